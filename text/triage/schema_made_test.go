package triage

import (
	"encoding/json"
	"reflect"

	"github.com/invopop/jsonschema"

	"pawl"
)

// madeSchema makes the schema of an evaluation from the types and the notes below.
func madeSchema() string {
	r := jsonschema.Reflector{Anonymous: true, ExpandedStruct: true, Mapper: leaf}
	s := r.Reflect(Evaluation{})
	s.ID, s.Title = "urn:pawl:schema:evaluation:1", "Evaluation of a requirement of pawl"
	describe(s, "Evaluation")
	for name, d := range s.Definitions {
		describe(d, name)
	}
	// The schema is made of strings, numbers and lists: it always encodes.
	data, _ := json.MarshalIndent(s, "", "  ")
	return string(data) + "\n"
}

func leaf(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[Class]():
		return enum(classes())
	case reflect.TypeFor[Aspect]():
		return enum(Aspects())
	case reflect.TypeFor[pawl.Risk]():
		return enum([]pawl.Risk{pawl.RiskLow, pawl.RiskMedium, pawl.RiskHigh})
	case reflect.TypeFor[RiskKind]():
		return enum(Kinds())
	case reflect.TypeFor[Stance]():
		return enum([]Stance{StanceAction, StanceMention, StanceUnsure})
	case reflect.TypeFor[Design]():
		return enum([]Design{DesignUnknown, DesignNone, DesignSimple, DesignFull})
	case reflect.TypeFor[Extent]():
		return enum([]Extent{ExtentUnknown, ExtentPoint, ExtentLocal, ExtentCross})
	}
	return nil
}

func enum[T ~string](values []T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, v := range values {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

// note is what the schema says of a field beyond its type.
type note struct {
	text     string
	required bool
	least    int // smallest number or smallest number of elements
	most     int // largest number, or largest number of elements or characters; 0 for none
}

var notes = map[string]note{
	"Evaluation.by":    {text: "Who judged. pawl fills it in: leave it out."},
	"Evaluation.class": {text: "What kind of work is asked for.", required: true},
	"Evaluation.score": {text: "The sum of the points of the four dimensions. From 7 on the requirement is clear.",
		required: true, most: 10},
	"Evaluation.risk":       {text: "How much can go wrong. pawl raises it to high where something of extremely high risk would be done.", required: true},
	"Evaluation.dimensions": {text: "The four dimensions, each once: goal (0-3), criteria for being done (0-3), scope (0-2), limits (0-2; full where there are no obvious limits). What the user did not mention has 0 points.", required: true, least: 4, most: 4},
	"Evaluation.questions":  {text: "One to three where the score is below 7, none otherwise. They ask about what users see, never about technology.", required: true, most: MaxQuestions},
	"Evaluation.as_is":      {text: "That the person goes on with what there is. pawl fills it in: leave it out."},
	"Evaluation.factors":    {text: "What the path depends on; pawl decides the path.", required: true},
	"Evaluation.ehrb": {text: "What is of extremely high risk. pawl adds what it finds itself.", required: true,
		most: maxFound},
	"Evaluation.why": {text: "The judgement in one or two sentences.", most: maxWhy},

	"Dimension.name":     {text: "Which dimension.", required: true},
	"Dimension.points":   {text: "How many points it has.", required: true, most: 3},
	"Dimension.evidence": {text: "The user's own words that the points rest on.", required: true, most: maxEvidence},

	"Evidence.quote": {text: "Words of the user, exactly as they stand in the text.", required: true, least: 1,
		most: maxQuote},
	"Evidence.start": {text: "First byte of the quote in the text; pawl finds it where it is left out."},
	"Evidence.end":   {text: "The byte behind the quote."},

	"Question.about": {text: "The dimension that lacks something.", required: true},
	"Question.text":  {text: "The question, in the user's language.", most: maxQuestion},
	"Question.key":   {text: "For pawl's own questions: the message of its catalogue. Leave it out."},
	"Question.args":  {text: "For pawl's own questions: what the message is filled with. Leave it out.", most: 1},

	"Factors.new":    {text: "A project is begun from nothing.", required: true},
	"Factors.major":  {text: "Much of what exists is built anew.", required: true},
	"Factors.design": {text: "How much has to be designed first; empty or left out where it cannot be told."},
	"Factors.extent": {text: "How far it reaches: one place, one module, several modules; empty or left out where it cannot be told."},

	"Finding.kind": {text: "What is risked.", required: true},
	"Finding.quote": {text: "Words of the user, exactly as they stand in the text.", required: true, least: 1,
		most: maxQuote},
	"Finding.start":  {text: "First byte of the quote in the text; pawl finds it where it is left out."},
	"Finding.end":    {text: "The byte behind the quote."},
	"Finding.stance": {text: "action where it would be done; mention where it is forbidden, quoted, asked about, past, or in a comment; unsure where that cannot be told.", required: true},
}

func describe(s *jsonschema.Schema, name string) {
	s.Required = nil
	for pair := s.Properties.Oldest(); pair != nil; pair = pair.Next() {
		n, p := notes[name+"."+pair.Key], pair.Value
		p.Description = n.text
		if n.required {
			s.Required = append(s.Required, pair.Key)
		}
		least, most := uint64(n.least), uint64(n.most)
		switch p.Type {
		case "array":
			if n.least > 0 {
				p.MinItems = &least
			}
			if n.most > 0 {
				p.MaxItems = &most
			}
		case "string":
			if n.least > 0 {
				p.MinLength = &least
			}
			if n.most > 0 {
				p.MaxLength = &most
			}
		case "integer":
			p.Minimum = "0"
			if n.most > 0 {
				p.Maximum = json.Number(string(must(json.Marshal(n.most))))
			}
		}
	}
}

func must(b []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return b
}
