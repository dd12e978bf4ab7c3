package script

import (
	"testing"

	"pawl/text/policy"
)

// TestFixersAreAllowed keeps the fixers within what the standard profile lets run without a question, and the few that
// touch the record of dependencies or an unusual program within what it asks about.
func TestFixersAreAllowed(t *testing.T) {
	judge := func(command string) policy.Decision {
		return policy.Judge(policy.Request{Tool: runTool, Command: command,
			Permissions: []policy.Permission{policy.ProcExec}}, policy.Standard()).Decision
	}
	for _, command := range []string{
		goFormat, "cd sub && go fmt ./...", "gofmt -w main.go 'sub dir/x.go'", "go vet -fix ./... || true",
		"go mod tidy",
		"golangci-lint run --fix --issues-exit-code 0",
		"npm run lint:fix || true", "npx --no-install prettier --write .", "npx --no-install eslint --fix . || true",
		"npx --no-install stylelint --fix '**/*.{css,scss}' || true", "npx --no-install biome format --write .",
		"yarn run prettier --write .", "pnpm run format || true",
		"black -q .", "ruff format .", "ruff check --fix --exit-zero .",
		"cargo fmt --all", "cargo clippy --fix --allow-dirty --allow-staged --all-targets --offline",
		"cargo fix --allow-dirty --allow-staged --all-targets --offline",
		"mvn -B -q -o spotless:apply", "gradle --offline --no-daemon -q spotlessApply",
		"dart format .", "dart fix --apply", "dotnet format --no-restore", "dotnet format whitespace --no-restore",
		"bundle exec rubocop -a --fail-level F --cache false", "make fmt",
	} {
		if d := judge(command); d != policy.Allow {
			t.Errorf("%s: %s", command, d)
		}
	}
	for _, command := range []string{
		"go mod vendor", "bunx --no-install eslint --fix . || true", "cargo update --workspace --offline",
		"dart pub get --offline", "flutter pub get --offline", "vendor/bin/php-cs-fixer fix --using-cache=no",
	} {
		if d := judge(command); d == policy.Deny {
			t.Errorf("%s: %s", command, d)
		}
	}
}
