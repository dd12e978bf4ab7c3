package modeltest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// Ask puts a prompt to a model as an agent does that offers one tool, and returns what the model says. What went wrong
// is said as well: who plays an agent hands on whatever comes.
func Ask(url, prompt string) string {
	body, err := json.Marshal(map[string]any{
		"model": "mock-model", "messages": []any{map[string]any{"role": "user", "content": prompt}},
		"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "look"}}},
	})
	if err != nil {
		return err.Error()
	}
	resp, err := http.Post(strings.TrimSuffix(url, "/")+"/v1/chat/completions", "application/json", bytes.NewReader(body))
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	raw, _ := io.ReadAll(resp.Body)
	var answer struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if json.Unmarshal(raw, &answer) != nil || len(answer.Choices) == 0 {
		return string(raw)
	}
	return answer.Choices[0].Message.Content
}
