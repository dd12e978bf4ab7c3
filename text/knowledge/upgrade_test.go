package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pawl"
	"pawl/text/knowledge"
)

func taken(t *testing.T, files, existing []string) (copies, told []string) {
	t.Helper()
	p, err := knowledge.Upgrade("helloagents", files, existing, nil, noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Copies {
		copies = append(copies, c.From+" > "+c.To)
	}
	for _, f := range p.Findings {
		told = append(told, f.File+" "+strings.TrimPrefix(f.Key, "knowledge.upgrade_"))
	}
	return copies, told
}

func TestUpgradeOfEachLayout(t *testing.T) {
	for name, c := range map[string]struct{ files, existing, copies, told []string }{
		"today": {
			files: []string{"INDEX.md", "context.md", "CHANGELOG.md", "CHANGELOG_2024.md", "modules/_index.md",
				"modules/web.md", "plan/202602081200_a/tasks.md", "plan/202602081200_a/proposal.md",
				"archive/_index.md", ".cache"},
			copies: []string{"CHANGELOG.md > CHANGELOG.md", "CHANGELOG_2024.md > CHANGELOG_2024.md",
				"INDEX.md > INDEX.md", "archive/_index.md > archive/_index.md", "context.md > context.md",
				"modules/_index.md > modules/_index.md", "modules/web.md > modules/web.md",
				"plan/202602081200_a/proposal.md > plan/202602081200_a/proposal.md",
				"plan/202602081200_a/tasks.md > plan/202602081200_a/tasks.md"},
			told: []string{".cache unknown"},
		},
		"older": {
			files: []string{"project.md", "wiki/overview.md", "wiki/arch.md", "wiki/modules/web.md",
				"history/index.md", "history/2025-01/202501011200_a/how.md", "plan/202502081200_b/task.md"},
			copies: []string{"wiki/overview.md > INDEX.md",
				"history/2025-01/202501011200_a/how.md > archive/2025-01/202501011200_a/how.md",
				"history/index.md > archive/_index.md", "project.md > context.md",
				"wiki/modules/web.md > modules/web.md", "plan/202502081200_b/task.md > plan/202502081200_b/task.md",
				"wiki/arch.md > wiki/arch.md"},
			told: []string{"202502081200_b package"},
		},
		"both, and pawl's": {
			files: []string{"project.md", "context.md", "INDEX.md", "modules/A.md"}, existing: []string{"Index.md",
				"modules/a.md"},
			copies: []string{"context.md > context.md"},
			told:   []string{"INDEX.md exists", "modules/A.md exists", "project.md exists"},
		},
		"hostile": {
			files: []string{"context.md", "modules/../../x", "/etc/passwd", "plan//a", "modules/a\\b", "modules/a\nb",
				"..", "C:x"},
			copies: []string{"context.md > context.md"},
			told: []string{".. bad_path", "/etc/passwd bad_path", "C:x bad_path", "modules/../../x bad_path",
				"modules/a b bad_path", "modules/a\\b bad_path", "plan//a bad_path"},
		},
	} {
		copies, told := taken(t, c.files, c.existing)
		if !slices.Equal(copies, c.copies) || !slices.Equal(told, c.told) {
			t.Errorf("%s:\n%q\n%q", name, copies, told)
		}
	}
}

func TestBackupName(t *testing.T) {
	var beside []string
	for i, want := range []string{"helloagents_backup_202602081230", "helloagents_backup_202602081230_v2",
		"helloagents_backup_202602081230_v3"} {
		p, err := knowledge.Upgrade("helloagents/", []string{"INDEX.md"}, nil, beside, noon)
		if err != nil || p.Backup != want {
			t.Errorf("%d: %q, %v", i, p.Backup, err)
		}
		beside = append(beside, strings.ToUpper(p.Backup))
	}
	for i := range 200 {
		beside = append(beside, fmt.Sprintf("helloagents_backup_202602081230_v%d", i))
	}
	if p, err := knowledge.Upgrade("helloagents", []string{"INDEX.md"}, nil, beside,
		noon); err != nil || p.Backup != "helloagents_backup_202602081230_v200" {
		t.Errorf("behind 200 backups: %q, %v", p.Backup, err)
	}
}

func TestUpgradeRefuses(t *testing.T) {
	for code, files := range map[pawl.Code][]string{pawl.CodeNotFound: {"x.txt"},
		pawl.CodeInvalid: make([]string, knowledge.MaxUpgrade+1)} {
		if _, err := knowledge.Upgrade("helloagents", files, nil, nil, noon); pawl.CodeOf(err) != code {
			t.Error(err)
		}
	}
}
