package llm

import "pawl/kernel/effect"

// Key reads the key that the settings name, for whoever else calls their endpoint.
func (a *Agent) Key() (string, error) {
	base, err := a.settings.endpoint()
	if err != nil {
		return "", err
	}
	return a.settings.keys(base).Read()
}

// Cost adds the money to the tokens of a model, or marks them where the price is not known or cannot be read.
func (a *Agent) Cost(model string, u effect.Usage) effect.Usage {
	price, known, err := a.config.Price(model)
	return price.of(u, 0, known && err == nil)
}
