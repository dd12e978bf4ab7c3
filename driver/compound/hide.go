package compound

import (
	"context"

	"pawl/driver/contextpack"
	"pawl/kernel/effect"
	"pawl/text/secret"
)

// Secrets tells what knows the secrets of a workspace.
type Secrets func(workspace string) *secret.Redactor

// hiding builds packs without the secrets that stand in the files which they quote.
type hiding struct {
	Packer
	secrets Secrets
}

// Hiding has packs built without secrets.
func Hiding(p Packer, s Secrets) Packer { return hiding{p, s} }

func (h hiding) Build(ctx context.Context, a contextpack.Ask) (effect.ContextPack, error) {
	pack, err := h.Packer.Build(ctx, a)
	if raw, changed := secret.JSON(effect.Encode(pack), h.secrets(a.Place.Workspace).Certain); changed {
		if clean, err := effect.Decode[effect.ContextPack](raw); err == nil {
			pack = clean
		}
	}
	return pack, err
}

// unsaid takes the secrets out of what an agent has said in its work. Its calls stay as they are to be made.
func unsaid(r effect.Receipt, known *secret.Redactor) effect.Receipt {
	r.Detail = known.Text(r.Detail)
	result, err := effect.Decode[effect.WorkResult](r.Result)
	if err != nil {
		return r
	}
	result.Text, result.Reason = known.Text(result.Text), known.Text(result.Reason)
	for i := range result.Messages {
		result.Messages[i].Text = known.Certain(result.Messages[i].Text)
	}
	r.Result = effect.Encode(result)
	return r
}
