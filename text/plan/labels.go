package plan

import "strings"

// Labels are the words of a rendered PRD. ParsePRD reads documents with the words of English and of Chinese and with a
// mix of both; a caller may set State and Help and leaves the rest as it is.
type Labels struct {
	Title, Plan, Hash, Created string
	// Status is the label and State its value: what the document waits for, in words of the caller's choice.
	Status, State string
	// Help is shown under the header, one quoted line per line.
	Help string

	Goals, Goal, Constraints, Criteria         string
	From, Test, Check, Path, Text, File, Held  string
	Specs, Mode, Required, StopOnFail, Command string
	Tasks, Intent, DependsOn, Verify           string
	Undo, Call, Why                            string
	Risks, Risk, Network                       string
}

// English returns the English words.
func English() Labels {
	return Labels{
		Title: "PRD", Plan: "Plan", Hash: "Hash", Created: "Created", Status: "Status", State: "awaiting confirmation",
		Help: "Edit what is below, then approve: the approval is bound to exactly what this document says.\n" +
			"A step is skipped with [-] and removed by deleting it; the order of the steps is the order of the list.\n" +
			"Text of several lines stands in a fenced block.",
		Goals: "Context & Goals", Goal: "Goal", Constraints: "Constraints", Criteria: "Acceptance Criteria",
		From: "From", Test: "Test", Check: "Check", Path: "Path", Text: "Text",
		File: "Test file", Held: "Held-out test file",
		Specs: "Technical Specs", Mode: "Verification", Required: "Required", StopOnFail: "Stop at first failure",
		Command: "Command",
		Tasks:   "Atomic Task List", Intent: "Intent", DependsOn: "Depends on", Verify: "Verify",
		Undo: "Undo", Call: "Call", Why: "Why",
		Risks: "Risks", Risk: "Risk level", Network: "Network access",
	}
}

// Chinese returns the words of 简体中文.
func Chinese() Labels {
	return Labels{
		Title: "产品需求文档（PRD）", Plan: "计划", Hash: "哈希", Created: "创建时间", Status: "状态", State: "待确认",
		Help: "可以直接修改下面的内容再批准：批准只对本文档所述内容生效。\n" +
			"用 [-] 跳过一个步骤，删除整段即移除该步骤；列表的顺序就是步骤的顺序。\n" +
			"多行文本请放在围栏代码块中。",
		Goals: "背景与目标", Goal: "目标", Constraints: "约束", Criteria: "验收标准",
		From: "出处", Test: "测试", Check: "检查", Path: "路径", Text: "文本",
		File: "测试文件", Held: "保留的测试文件",
		Specs: "技术方案", Mode: "验证方式", Required: "必须通过", StopOnFail: "首次失败即停止", Command: "命令",
		Tasks: "原子任务清单", Intent: "意图", DependsOn: "依赖", Verify: "产物", Undo: "撤销", Call: "调用", Why: "原因",
		Risks: "风险", Risk: "风险等级", Network: "网络访问",
	}
}

// section is a part of the document.
type section string

const (
	inHeader      section = "header"
	inGoals       section = "goals"
	inGoal        section = "goal"
	inConstraints section = "constraints"
	inCriteria    section = "criteria"
	inSpecs       section = "specs"
	inTasks       section = "tasks"
	inRisks       section = "risks"
)

// sectionNamed returns the section under a heading in any language.
func sectionNamed(heading string) (section, bool) {
	heading = strings.TrimSpace(strings.TrimLeft(heading, "0123456789. "))
	for _, l := range []Labels{English(), Chinese()} {
		for name, s := range map[string]section{
			l.Title: inHeader, l.Goals: inGoals, l.Goal: inGoal, l.Constraints: inConstraints,
			l.Criteria: inCriteria, l.Specs: inSpecs, l.Tasks: inTasks, l.Risks: inRisks,
		} {
			if strings.EqualFold(heading, name) {
				return s, true
			}
		}
	}
	return "", false
}

// entry is a labelled line of the document, named as the field of the plan that it stands for.
type entry string

const (
	isPlan       entry = "plan_id"
	isHash       entry = "hash"
	isStatus     entry = "status"
	isCreated    entry = "created_at"
	isMode       entry = "mode"
	isRequired   entry = "required"
	isStopOnFail entry = "stop_on_fail"
	isCommand    entry = "commands"
	isIntent     entry = "intent"
	isDependsOn  entry = "depends_on"
	isVerify     entry = "expected_artifacts"
	isUndo       entry = "rollback_hint"
	isCall       entry = "tool_calls"
	isWhy        entry = "why"
	isRisk       entry = "risk_level"
	isNetwork    entry = "network"
	isFrom       entry = "from"
	isTest       entry = "tests"
	isCheck      entry = "checks"
	isPath       entry = "paths"
	isText       entry = "texts"
	isFile       entry = "files"
	isHeld       entry = "held"
)

// entryNamed returns what a label means in a section, in any language.
func entryNamed(in section, label string) (entry, bool) {
	for _, l := range []Labels{English(), Chinese()} {
		for name, e := range l.entries(in) {
			if strings.EqualFold(label, name) {
				return e, true
			}
		}
	}
	return "", false
}

func (l Labels) entries(in section) map[string]entry {
	switch in {
	case inHeader:
		return map[string]entry{l.Plan: isPlan, l.Hash: isHash, l.Status: isStatus, l.Created: isCreated}
	case inCriteria:
		return map[string]entry{
			l.From: isFrom, l.Command: isCommand, l.Test: isTest, l.Check: isCheck, l.Path: isPath, l.Text: isText,
			l.File: isFile, l.Held: isHeld,
		}
	case inSpecs:
		return map[string]entry{
			l.Mode: isMode, l.Required: isRequired, l.StopOnFail: isStopOnFail, l.Command: isCommand,
		}
	case inTasks:
		return map[string]entry{
			l.Intent: isIntent, l.DependsOn: isDependsOn, l.Verify: isVerify, l.Undo: isUndo, l.Call: isCall,
			l.Why: isWhy,
		}
	case inRisks:
		return map[string]entry{l.Risk: isRisk, l.Network: isNetwork}
	default:
		return nil
	}
}
