package triage

import (
	"strings"
	"sync"
)

// riskRule is one way in which words say something of extremely high risk: a verb of one class with an object of
// another. The classes are those of the lexicon; the table is published as docs/spec/risk.md.
type riskRule struct {
	// ID names the rule for good; ids are never reused.
	ID   string
	Kind RiskKind
	// Verb and Object are classes, any of which does. Where Object is empty, the verb says it all; Verb is empty where
	// the object does.
	Verb, Object string
	// Need are classes of which one of each group has to stand in the clause besides; "a|b c" are two groups.
	Need string
	// Unless are classes that take the rule back where one of them stands in the clause.
	Unless string
	// Reach is what may stand between an English verb and its object.
	Reach reach
}

// reach says what may stand between a verb and its object.
type reach uint8

const (
	direct   reach = iota // no preposition
	across                // prepositions of place and of belonging
	anywhere              // any word, as "with" and "for"
)

// At home it is safe: what is destroyed or sent in a test or on one's own machine.
const (
	home    = "local fake"
	pretend = "fake"
)

// riskRules is the table of the rules. Ids are append-only.
func riskRules() []riskRule { return append(rulesOfMachines(), rulesOfOthers()...) }

// rulesOfMachines are the rules about what runs and what is stored.
func rulesOfMachines() []riskRule {
	return []riskRule{
		{ID: "P1", Kind: RiskProduction, Verb: "change destroy overwrite down format access discard", Object: "live",
			Unless: "trouble", Reach: across},
		{ID: "P2", Kind: RiskProduction, Verb: "commit", Object: "mainline", Reach: across},
		{ID: "P3", Kind: RiskProduction, Object: "golive", Unless: home},
		{ID: "P5", Kind: RiskProduction, Verb: "command", Object: "live", Unless: "trouble look fake", Reach: across},
		{ID: "P4", Kind: RiskProduction, Verb: "change", Object: "traffic", Need: "live|all", Unless: home,
			Reach: across},

		{ID: "D1", Kind: RiskDataLoss, Verb: "destroy", Object: "store fixed", Unless: home + " column"},
		{ID: "D2", Kind: RiskDataLoss, Verb: "destroy", Object: "record person", Need: "all|own|store|live",
			Unless: home},
		{ID: "D8", Kind: RiskDataLoss, Verb: "edit", Object: "record person", Need: "all store|live", Unless: home},
		{ID: "D9", Kind: RiskDataLoss, Verb: "destroy", Object: "column", Need: "dropping"},
		{ID: "D10", Kind: RiskDataLoss, Verb: "annihilate", Object: "store fixed path", Unless: home + " column",
			Reach: across},
		{ID: "D11", Kind: RiskDataLoss, Verb: "annihilate", Object: "record", Unless: home + " column"},
		{ID: "D3", Kind: RiskDataLoss, Verb: "overwrite", Object: "store record", Unless: home, Reach: across},
		{ID: "D4", Kind: RiskDataLoss, Verb: "format", Object: "fixed", Unless: home},
		{ID: "D5", Kind: RiskDataLoss, Verb: "reset", Object: "store", Unless: home},
		{ID: "D6", Kind: RiskDataLoss, Verb: "destroy", Object: "path", Unless: home, Reach: across},
		{ID: "D7", Kind: RiskDataLoss, Verb: "destroy", Object: "everything", Unless: home + " artifact"},

		{ID: "H1", Kind: RiskHistory, Object: "forcepush"},
		{ID: "H8", Kind: RiskHistory, Verb: "commit", Object: "forcing", Reach: anywhere},
		{ID: "H2", Kind: RiskHistory, Verb: "rewrite overwrite", Object: "history", Reach: across},
		{ID: "H3", Kind: RiskHistory, Verb: "discard", Object: "uncommitted", Reach: anywhere},
		{ID: "H4", Kind: RiskHistory, Verb: "destroy", Object: "ref", Need: "remote|all|mainline"},
		{ID: "H5", Kind: RiskHistory, Object: "hardreset"},
		{ID: "H6", Kind: RiskHistory, Verb: "overwrite", Object: "remote", Reach: across},
		{ID: "H7", Kind: RiskHistory, Verb: "destroy reset", Object: "mainline"},

		{ID: "O1", Kind: RiskOutage, Verb: "down", Object: "machine", Unless: home + " graceful"},
		{ID: "O2", Kind: RiskOutage, Verb: "down", Object: "workload", Need: "shared|others|all", Unless: home +
			" graceful"},

		{ID: "X1", Kind: RiskExternal, Verb: "access install down change", Object: "machine", Need: "others",
			Unless: home,
			Reach:  across},
		{ID: "X2", Kind: RiskExternal, Verb: "attack", Object: "others", Unless: home, Reach: anywhere},
		{ID: "X3", Kind: RiskExternal, Verb: "install", Object: "machine", Need: "all", Unless: home, Reach: across},

		{ID: "X5", Kind: RiskExternal, Verb: "command", Object: "machine personal", Need: "others|owner",
			Unless: home + " look artifact", Reach: across},
		{ID: "X4", Kind: RiskExternal, Verb: "access install down change", Object: "personal",
			Need: "others|owner|shared|all", Unless: home, Reach: across},
	}
}

// rulesOfOthers are the rules about rights, secrets, people and their money.
func rulesOfOthers() []riskRule {
	return []riskRule{
		{ID: "G1", Kind: RiskPrivilege, Verb: "grant", Object: "rights", Reach: across},
		{ID: "G2", Kind: RiskPrivilege, Verb: "launch", Object: "asroot", Unless: "rootthing", Reach: anywhere},
		{ID: "G3", Kind: RiskPrivilege, Object: "writable"},
		{ID: "G4", Kind: RiskPrivilege, Verb: "disable", Object: "wall"},
		{ID: "G5", Kind: RiskPrivilege, Verb: "change", Object: "wall", Reach: across, Unless: home},

		{ID: "S1", Kind: RiskSecret, Verb: "leak", Object: "secret", Unless: pretend + " shield"},
		{ID: "S2", Kind: RiskSecret, Verb: "put", Object: "secret", Need: "open", Unless: pretend + " shield"},
		{ID: "S5", Kind: RiskSecret, Verb: "command", Object: "secret", Need: "open",
			Unless: pretend + " shield look artifact"},
		{ID: "S3", Kind: RiskSecret, Verb: "rotate", Object: "secret", Need: "live|rights|store"},

		{ID: "A1", Kind: RiskAuth, Verb: "disable", Object: "guard", Unless: "dead"},
		{ID: "A2", Kind: RiskAuth, Verb: "permit", Object: "anyone", Need: "entry"},
		{ID: "A3", Kind: RiskAuth, Verb: "permit", Object: "without freeentry", Reach: anywhere},
		{ID: "A4", Kind: RiskAuth, Verb: "access launch", Object: "freeentry", Reach: anywhere},

		{ID: "N1", Kind: RiskPersonal, Verb: "collect", Object: "person", Unless: home + " shield"},

		{ID: "N2", Kind: RiskPersonal, Verb: "put leak", Object: "person", Need: "open", Unless: home + " shield"},

		{ID: "M1", Kind: RiskPayment, Verb: "charge", Object: "payee", Unless: home},
		{ID: "M2", Kind: RiskPayment, Verb: "pay", Object: "money", Unless: home},
		{ID: "M12", Kind: RiskPayment, Verb: "paying", Object: "payee audience", Unless: home},
		{ID: "M3", Kind: RiskPayment, Verb: "modify", Object: "moneylogic", Unless: pretend},
		{ID: "M4", Kind: RiskPayment, Verb: "buy", Object: "goods", Unless: home, Reach: anywhere},
		{ID: "M5", Kind: RiskPayment, Verb: "price", Object: "pricething", Need: "all|live", Unless: home},
		{ID: "M11", Kind: RiskPayment, Verb: "pricing", Need: "all|our", Unless: home},
		{ID: "M6", Kind: RiskPayment, Verb: "modify", Object: "provider", Unless: pretend, Reach: anywhere},
		{ID: "M7", Kind: RiskPayment, Verb: "change pay weakpay", Object: "livemode", Reach: anywhere},

		{ID: "M8", Kind: RiskPayment, Verb: "weakpay", Object: "cash", Unless: home},
		{ID: "M10", Kind: RiskPayment, Verb: "cancel", Object: "subscribed", Need: "all|our", Unless: home},
		{ID: "M9", Kind: RiskPayment, Object: "refunding", Unless: home},

		{ID: "E1", Kind: RiskExternal, Verb: "send", Object: "audience", Need: "all|our|many|number", Unless: home +
			" coded",
			Reach: anywhere},
		{ID: "E2", Kind: RiskExternal, Verb: "send", Object: "masslist", Unless: home, Reach: across},
		{ID: "E7", Kind: RiskExternal, Verb: "filing", Object: "ticketed", Need: "all|many|number remote|others"},
		{ID: "E8", Kind: RiskExternal, Verb: "command", Object: "commune",
			Need:   "all|our|many|number audience|masslist",
			Unless: home + " look coded artifact"},
		{ID: "E9", Kind: RiskExternal, Verb: "writing", Object: "audience", Need: "all|our|many|number commune|writing",
			Unless: home + " coded artifact", Reach: across},
		{ID: "E10", Kind: RiskExternal, Verb: "send", Object: "bulletin", Unless: home + " artifact"},
		{ID: "E3", Kind: RiskExternal, Verb: "broadcast", Unless: home},
		{ID: "E4", Kind: RiskExternal, Verb: "send publish", Object: "social", Unless: home, Reach: across},
		{ID: "E5", Kind: RiskExternal, Verb: "publish", Object: "registry", Unless: home, Reach: across},
		{ID: "E6", Kind: RiskExternal, Verb: "sendout", Object: "outside", Unless: home, Reach: across},
	}
}

// readyRule is a rule whose classes are numbers.
type readyRule struct {
	riskRule
	verb, object, unless senses
	need                 []senses
}

// readyRules are the rules, and the classes that every other part of the judgement looks for.
var readyRules = sync.OnceValue(func() []readyRule {
	l := words()
	var out []readyRule
	for _, r := range riskRules() {
		ready := readyRule{riskRule: r, verb: l.set(r.Verb), object: l.set(r.Object), unless: l.set(r.Unless)}
		for _, group := range strings.Fields(r.Need) {
			ready.need = append(ready.need, l.set(strings.ReplaceAll(group, "|", " ")))
		}
		out = append(out, ready)
	}
	return out
})
