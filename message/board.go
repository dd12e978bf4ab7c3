package message

// issueText is the part of the catalogue for keys that begin with "issue.": the commands of the board.
var issueText = part{load: func() Table {
	return Table{
		"issue.root.short":    {En: "the issue board", Zh: "议题看板"},
		"issue.root.long":     {En: "A backlog of issues: each gets a plan, is carried out in a worktree of its own, verified, and landed. Issues are named by ISS-12, by 12, or by the id under which another system knows them. Add --issue ISS-12 to any other command to speak of the session of that issue, as in pawl approve --issue ISS-12.", Zh: "议题清单：每个议题都有自己的计划，在独立的工作树中执行、验证并落地。议题可写作 ISS-12、12，或其他系统中的编号。给任何其他命令加上 --issue ISS-12，即针对该议题的会话，例如 pawl approve --issue ISS-12。"},
		"issue.add.short":     {En: "add an issue", Zh: "添加议题"},
		"issue.add.long":      {En: "Registers an issue. With --after it waits until others are completed; circles are refused. With --plan its plan is not made but taken from a file.", Zh: "登记一个议题。--after 表示等其他议题完成后再执行；不允许成环。--plan 表示计划取自文件而不是另行制定。"},
		"issue.list.short":    {En: "list issues", Zh: "列出议题"},
		"issue.list.long":     {En: "Lists issues in the order of their registration, with their status and what is computed of it: working, ready, waits (for other issues), blocked (one of those failed), asks (waits for a person), paused.", Zh: "按登记顺序列出议题，含状态以及由此计算的情形：working（处理中）、ready（就绪）、waits（等待其他议题）、blocked（所依赖的议题失败）、asks（等待人工）、paused（暂缓）。"},
		"issue.show.short":    {En: "show an issue", Zh: "查看议题"},
		"issue.show.long":     {En: "Shows an issue with its dependencies, its plans, what it waits for, and what can be done next.", Zh: "显示议题及其依赖、计划、等待的事项以及后续操作。"},
		"issue.edit.short":    {En: "change an issue", Zh: "修改议题"},
		"issue.edit.long":     {En: "Changes what flags are given for. --after adds dependencies, --not-after takes them back. Feedback is told to the next attempt.", Zh: "修改给出的各项。--after 添加依赖，--not-after 去掉依赖。反馈会告知下一次尝试。"},
		"issue.import.short":  {En: "take over issues from a file or from GitHub", Zh: "从文件或 GitHub 导入议题"},
		"issue.import.long":   {En: "Reads issues from a state.json, from JSON records, from Markdown, or from the issues of a repository on GitHub, and registers those that are new: an import may be repeated, and one that was interrupted goes on. It is all or nothing where the source cannot be read. Nothing is written to GitHub unless --state-back asks for it.", Zh: "从 state.json、JSON 记录、Markdown 或 GitHub 仓库读取议题，并登记其中的新议题：导入可重复执行，中断后可继续。来源有误时不导入任何内容。除非给出 --state-back，不会向 GitHub 写入任何内容。"},
		"issue.export.short":  {En: "write the board as state.json", Zh: "以 state.json 格式导出看板"},
		"issue.export.long":   {En: "Writes the newest batch in the shape of state.json, to the screen or to a new file.", Zh: "以 state.json 的格式输出最新批次，写到屏幕或新文件。"},
		"issue.plan.short":    {En: "make plans for issues", Zh: "为议题制定计划"},
		"issue.plan.long":     {En: "Makes plans and changes nothing else. At a terminal each plan is asked about; with --yes it is approved by that policy; otherwise it waits for pawl approve --issue.", Zh: "只制定计划，不做其他改动。在终端中会逐个询问；--yes 按此策略批准；否则等待 pawl approve --issue。"},
		"issue.queue.short":   {En: "what comes next, and why others wait", Zh: "接下来执行什么，以及其他议题为何等待"},
		"issue.queue.long":    {En: "Shows what is at work, then what is claimed next in its order (priority, then age, then the length of the chain that waits), then why others wait.", Zh: "先显示处理中的议题，再按领取顺序（优先级、登记先后、后续依赖链长度）显示接下来的议题，最后说明其他议题为何等待。"},
		"issue.execute.short": {En: "carry approved plans out", Zh: "执行已批准的计划"},
		"issue.execute.long":  {En: "Carries approved plans out, each in a worktree of its own and several at a time where they change different files, and lands each result behind the others. With --yes issues without a plan are planned on the way.", Zh: "执行已批准的计划：每个议题使用独立的工作树，改动不同文件的可并行，结果依次落地。--yes 时会顺带为没有计划的议题制定计划。"},
		"issue.board.short":   {En: "watch the board live", Zh: "实时查看看板"},
		"issue.board.long": {
			En: "Shows the issues in the columns of their statuses, who works on what, how far all of it is, about how long it takes, and what happened last. Keys: arrows or hjkl choose, Enter opens an issue, / filters, ? helps, q leaves. Without a terminal, or with --once, it is written once.",
			Zh: "按状态分列显示议题、各工作进程正在处理的内容、总体进度、预计剩余时间和最近事件。按键：方向键或 hjkl 选择，Enter 打开，/ 过滤，? 帮助，q 退出。没有终端或使用 --once 时只输出一次。",
		},
		"issue.flag.once":      {En: "write the board once and leave", Zh: "只输出一次"},
		"issue.worker.short":   {En: "work on issues until none is left", Zh: "持续处理议题直到全部完成"},
		"issue.worker.long":    {En: "Works on the board: plans, carries out, tries failures again within their budget. Several workers may run at the same time, in one process and in several. The first Ctrl-C ends in an orderly way, a second one at once.", Zh: "处理看板：制定计划、执行，并在预算内重试失败。可在一个或多个进程中同时运行多个工作进程。第一次 Ctrl-C 有序结束，第二次立即结束。"},
		"issue.bind.short":     {En: "choose an earlier plan", Zh: "选用以前的计划"},
		"issue.bind.long":      {En: "Has an issue planned with a plan that was made for it before. It is judged again on the present branch and asked about like any other.", Zh: "让议题改用以前制定的计划。该计划会针对当前分支重新判定，并照常请求批准。"},
		"issue.retry.short":    {En: "try a failed issue again", Zh: "重试失败的议题"},
		"issue.retry.long":     {En: "Tries the work again where it stopped or, with --replan, has a new plan made that is told of the failure.", Zh: "从停止处重试；--replan 则另行制定计划，并把失败情况告知新计划。"},
		"issue.skip.short":     {En: "leave an issue behind", Zh: "跳过议题"},
		"issue.skip.long":      {En: "Ends what is at work for an issue and leaves it behind; one that was not begun is held back. With --release those that depend on it no longer wait for it.", Zh: "结束议题正在进行的工作并跳过；尚未开始的会被暂缓。--release 表示依赖它的议题不再等待它。"},
		"issue.complete.short": {En: "end the batch with a report", Zh: "结束批次并生成报告"},
		"issue.complete.long":  {En: "Ends the batch, writes .pawl/final-report.md with the success rate and the quality score, and fails with status 1 when issues failed. It is refused while something is at work. Given again, it writes the report of the completed batch again.", Zh: "结束批次，将成功率和质量评分写入 .pawl/final-report.md；有议题失败时退出码为 1。仍有议题处理中时会被拒绝。再次执行会重新写出已结束批次的报告。"},
		"issue.history.short":  {En: "what happened to an issue or the board", Zh: "议题或看板的历史"},
		"issue.history.long":   {En: "Shows the records about an issue or, without one, about the newest batch, oldest first.", Zh: "按时间先后显示某个议题的记录；未指明时显示最新批次的记录。"},
		"issue.dag.short":      {En: "show which issues wait for which", Zh: "显示议题的依赖关系"},
		"issue.dag.long":       {En: "Draws the dependencies as text, for Graphviz or as Mermaid: of all issues, or of one with everything that it depends on.", Zh: "以文本、Graphviz 或 Mermaid 形式显示依赖：全部议题，或某个议题及其依赖的一切。"},

		"issue.flag.context":      {En: "what the issue says beside its title", Zh: "标题以外的说明"},
		"issue.flag.file":         {En: "read the description from a `FILE`; - is the standard input", Zh: "从 `文件` 读取说明；- 表示标准输入"},
		"issue.flag.priority":     {En: "1 (critical) to 5; 3 unless set", Zh: "1（最紧急）到 5；默认 3"},
		"issue.flag.tag":          {En: "tag; may be repeated", Zh: "标签，可重复"},
		"issue.flag.after":        {En: "`ISSUES` that must be completed first", Zh: "须先完成的 `议题`"},
		"issue.flag.not_after":    {En: "`ISSUES` that it no longer waits for", Zh: "不再等待的 `议题`"},
		"issue.flag.plan":         {En: "take the plan from a `FILE`", Zh: "计划取自 `文件`"},
		"issue.flag.agent":        {En: "agent that plans and works", Zh: "负责制定计划和执行的智能体"},
		"issue.flag.branch":       {En: "branch that the result lands on, whatever is checked out; otherwise that of the board", Zh: "结果落地的分支，与当前检出的分支无关；默认为看板的分支"},
		"issue.flag.board_branch": {En: "branch that the board's results land on, whatever is checked out; otherwise the one that is checked out when its work begins", Zh: "看板结果落地的分支，与当前检出的分支无关；默认为工作开始时检出的分支"},
		"issue.flag.paused":       {En: "hold it back", Zh: "暂缓"},
		"issue.flag.title":        {En: "the new title", Zh: "新标题"},
		"issue.flag.feedback":     {En: "tell the next attempt something", Zh: "告知下一次尝试的内容"},
		"issue.flag.workers":      {En: "how many issues are worked on at the same time", Zh: "同时处理的议题数"},
		"issue.flag.yes":          {En: "approve plans in the name of this policy", Zh: "按此策略批准计划"},
		"issue.flag.plan_only":    {En: "only make plans", Zh: "只制定计划"},
		"issue.flag.execute_only": {En: "only carry approved plans out", Zh: "只执行已批准的计划"},
		"issue.flag.stay":         {En: "stay and wait for further issues", Zh: "不退出，等待新的议题"},
		"issue.flag.all":          {En: "all issues", Zh: "所有议题"},
		"issue.flag.all_list":     {En: "all of them instead of the first page", Zh: "列出全部，而不只是第一页"},
		"issue.flag.status":       {En: "only issues of these statuses", Zh: "只列出这些状态的议题"},
		"issue.flag.tag_filter":   {En: "only issues with this tag; may be repeated", Zh: "只列出带此标签的议题，可重复"},
		"issue.flag.search":       {En: "only issues that hold all of these words", Zh: "只列出包含所有这些词的议题"},
		"issue.flag.limit":        {En: "how many at most", Zh: "最多多少个"},
		"issue.flag.format":       {En: "state, records or markdown instead of telling it from the file", Zh: "state、records 或 markdown，不再自动识别"},
		"issue.flag.scope":        {En: "name of this backlog, where several come into one workspace", Zh: "此清单的名称，用于区分同一工作区的多个清单"},
		"issue.flag.labels":       {En: "only issues with all of these labels on GitHub", Zh: "只导入带有所有这些 GitHub 标签的议题"},
		"issue.flag.closed":       {En: "closed issues as well, as completed ones", Zh: "同时导入已关闭的议题，记为已完成"},
		"issue.flag.loose":        {En: "leave out dependencies that cannot be kept, instead of refusing the file", Zh: "忽略无法保留的依赖，而不是拒绝整个文件"},
		"issue.flag.dry_run":      {En: "only say what would be registered", Zh: "只说明将登记什么"},
		"issue.flag.dry_report":   {En: "only show the report", Zh: "只显示报告"},
		"issue.flag.update":       {En: "bring issues up to date that changed there", Zh: "更新来源中已变化的议题"},
		"issue.flag.state_back":   {En: "say there what became of issues: as a comment or a label", Zh: "把结果写回：comment（评论）或 label（标签）"},
		"issue.flag.replan":       {En: "make a new plan", Zh: "另行制定计划"},
		"issue.flag.note":         {En: "tell the next attempt something", Zh: "告知下一次尝试的内容"},
		"issue.flag.release":      {En: "have those that depend on it no longer wait", Zh: "依赖它的议题不再等待"},
		"issue.flag.dot":          {En: "for Graphviz", Zh: "Graphviz 格式"},
		"issue.flag.mermaid":      {En: "as Mermaid", Zh: "Mermaid 格式"},

		"issue.edit_nothing": {
			En: "nothing to change was named", Zh: "没有指明要修改什么",
			HintEn: "See the flags with: %[1]s --help", HintZh: "用 %[1]s --help 查看选项",
		},
		"issue.which": {
			En: "say which issues, or --all", Zh: "请指明议题，或使用 --all",
			HintEn: "See examples with: %[1]s --help", HintZh: "用 %[1]s --help 查看示例",
		},
		"issue.failed": {
			En: "%[1]d issues failed", Zh: "%[1]d 个议题失败",
			HintEn: "pawl issue list --status failed names them, pawl issue retry tries one again", HintZh: "用 pawl issue list --status failed 查看，用 pawl issue retry 重试",
		},
		"issue.unplanned": {
			En: "%[1]s has no plan yet", Zh: "%[1]s 还没有计划",
			HintEn: "Make one: pawl issue plan %[1]s, or add --yes", HintZh: "先制定计划：pawl issue plan %[1]s，或加 --yes",
		},
		"issue.is_failed": {
			En: "%[1]s has failed", Zh: "%[1]s 已失败",
			HintEn: "pawl issue retry %[1]s tries it again", HintZh: "用 pawl issue retry %[1]s 重试",
		},
		"issue.solution_unknown": {
			En: "%[1]s has no plan %[2]q", Zh: "%[1]s 没有计划 %[2]q",
			HintEn: "pawl issue show %[1]s lists its plans", HintZh: "用 pawl issue show %[1]s 查看其计划",
		},
		"issue.solution_unknown_near": {
			En: "%[1]s has no plan %[2]q", Zh: "%[1]s 没有计划 %[2]q",
			HintEn: "Did you mean %[3]s?", HintZh: "是否想用 %[3]s？",
		},
		"issue.not_tracked": {
			En: "%[1]s is no issue of that repository", Zh: "%[1]s 不是该仓库的议题",
			HintEn: "Import it first: pawl issue import github:OWNER/REPO", HintZh: "请先导入：pawl issue import github:所有者/仓库",
		},

		"issue.live.worker":      {En: "worker %[1]s", Zh: "工作进程 %[1]s"},
		"issue.live.plans":       {En: "is being planned", Zh: "开始规划"},
		"issue.live.executes":    {En: "is being carried out", Zh: "开始执行"},
		"issue.live.completed":   {En: "completed", Zh: "已完成"},
		"issue.live.landed":      {En: "on %s", Zh: "已落地到 %s"},
		"issue.live.failed":      {En: "failed", Zh: "失败"},
		"issue.live.approval":    {En: "waits for approval", Zh: "等待批准"},
		"issue.live.question":    {En: "asks a question", Zh: "提出问题"},
		"issue.live.blocked":     {En: "is blocked", Zh: "受阻"},
		"issue.live.planned":     {En: "planned", Zh: "已规划"},
		"issue.live.left":        {En: "left", Zh: "已放下"},
		"issue.live.retried":     {En: "is tried again", Zh: "重新尝试"},
		"issue.live.evicted":     {En: "its worker is gone: %[1]s", Zh: "工作进程已消失：%[1]s"},
		"issue.live.interrupted": {En: "ending; Ctrl-C again ends at once", Zh: "正在结束；再按一次 Ctrl-C 立即结束"},
		"issue.count":            {En: "%[1]d issues", Zh: "共 %[1]d 个议题"},
		"issue.more":             {En: "… and more: pawl issue list", Zh: "……更多见 pawl issue list"},
		"issue.asks_person":      {En: "pawl status --issue %[1]s", Zh: "pawl status --issue %[1]s"},
		"issue.none":             {En: "the board has no issues yet: pawl issue add TITLE", Zh: "看板还没有议题：pawl issue add 标题"},
		"issue.list_more":        {En: "%[1]d are shown; there are more: --limit, --all", Zh: "已显示 %[1]d 个，还有更多：--limit、--all"},
		"issue.queue_empty":      {En: "nothing waits", Zh: "没有等待中的议题"},

		"issue.standing.working": {En: "being worked on", Zh: "处理中"},
		"issue.standing.paused":  {En: "held back", Zh: "暂缓"},
		"issue.standing.asks":    {En: "waits for a person", Zh: "等待人工"},
		"issue.standing.waits":   {En: "waits for other issues", Zh: "等待其他议题"},
		"issue.standing.blocked": {En: "an issue that it waits for has failed", Zh: "所等待的议题已失败"},
		"issue.standing.ready":   {En: "may begin", Zh: "可以开始"},
		"issue.standing.later":   {En: "is tried again later", Zh: "稍后重试"},

		"issue.show.status":    {En: "Status", Zh: "状态"},
		"issue.show.priority":  {En: "Priority", Zh: "优先级"},
		"issue.show.tags":      {En: "Tags", Zh: "标签"},
		"issue.show.branch":    {En: "Branch", Zh: "分支"},
		"issue.show.landed":    {En: "landed on %s", Zh: "已落地到 %s"},
		"issue.show.agent":     {En: "Agent", Zh: "智能体"},
		"issue.show.plan_file": {En: "Plan file", Zh: "计划文件"},
		"issue.show.after":     {En: "Waits for", Zh: "依赖"},
		"issue.show.needed":    {En: "Needed by", Zh: "被依赖"},
		"issue.show.external":  {En: "From", Zh: "来源"},
		"issue.show.worker":    {En: "Worker", Zh: "工作进程"},
		"issue.show.session":   {En: "Session", Zh: "会话"},
		"issue.show.solution":  {En: "Plan", Zh: "计划"},
		"issue.show.files":     {En: "Files", Zh: "文件"},
		"issue.show.error":     {En: "Error", Zh: "错误"},
		"issue.show.feedback":  {En: "Feedback", Zh: "反馈"},

		"issue.why.works":    {En: "at work: %[1]s", Zh: "处理中：%[1]s"},
		"issue.why.paused":   {En: "held back by a person", Zh: "被人工暂缓"},
		"issue.why.asks":     {En: "waits for a person", Zh: "等待人工"},
		"issue.why.later":    {En: "is tried again at %[1]s", Zh: "%[1]s 后重试"},
		"issue.why.waits":    {En: "waits for %[1]s", Zh: "等待 %[1]s"},
		"issue.why.blocked":  {En: "blocked by %[1]s", Zh: "受阻于 %[1]s"},
		"issue.why.overlaps": {En: "changes a file that %[1]s is changing", Zh: "与 %[1]s 正在改动的文件重叠"},
		"issue.why.ready":    {En: "priority %[1]d, since %[2]s, chain of %[3]d", Zh: "优先级 %[1]d，登记于 %[2]s，后续链长 %[3]d"},

		"issue.bound":         {En: "%[1]s is planned with %[2]s next", Zh: "%[1]s 接下来使用 %[2]s"},
		"issue.bound_already": {En: "%[1]s is the plan that waits for approval", Zh: "%[1]s 就是等待批准的计划"},
		"issue.retried":       {En: "is tried again by the next worker", Zh: "将由下一个工作进程重试"},
		"issue.because.bound": {En: "is planned with %[1]s instead", Zh: "改用 %[1]s 重新规划"},
		"issue.replanned":     {En: "is planned anew", Zh: "将重新规划"},
		"issue.skipped":       {En: "is left behind", Zh: "已跳过"},
		"issue.held":          {En: "is held back", Zh: "已暂缓"},

		"issue.importing":      {En: "%[1]d of %[2]d registered", Zh: "已登记 %[1]d / %[2]d"},
		"issue.imported":       {En: "%[1]d issues read: %[2]d new, %[3]d changed, %[4]d as they were", Zh: "读取 %[1]d 个议题：新增 %[2]d，变化 %[3]d，不变 %[4]d"},
		"issue.import_dry":     {En: "%[1]d issues read; %[2]d would be new, %[3]d changed, %[4]d are as they were", Zh: "读取 %[1]d 个议题；将新增 %[2]d，变化 %[3]d，不变 %[4]d"},
		"issue.import_changed": {En: "%[1]d changed there and were left as they are here; --update takes the changes over", Zh: "来源中有 %[1]d 个已变化，此处未改动；用 --update 更新"},
		"issue.import_back":    {En: "%[1]d endings written back", Zh: "已写回 %[1]d 个结果"},
		"issue.board_branch":   {En: "this board was begun for the branch %s: its results land there, whatever is checked out (--branch takes another)", Zh: "此看板是为分支 %s 开始的：结果会落地到该分支，与当前检出的分支无关（可用 --branch 更换）"},
		"issue.more_notes":     {En: "… and %[1]d more notes", Zh: "……另有 %[1]d 条说明"},
		"issue.back.completed": {En: "pawl has completed this issue (%[1]s).", Zh: "pawl 已完成此议题（%[1]s）。"},
		"issue.back.failed":    {En: "pawl could not complete this issue (%[1]s); a person has to look at it.", Zh: "pawl 未能完成此议题（%[1]s），需要人工查看。"},
		"issue.report_written": {En: "written to %[1]s", Zh: "已写入 %[1]s"},

		"issue.report.title":              {En: "Final report of %[1]s", Zh: "%[1]s 最终报告"},
		"issue.report.what":               {En: "Numbers", Zh: "数据"},
		"issue.report.status":             {En: "Status", Zh: "状态"},
		"issue.report.issues":             {En: "Issues", Zh: "议题"},
		"issue.report.success":            {En: "Success rate", Zh: "成功率"},
		"issue.report.good":               {En: "at least %[1]d %%", Zh: "达到 %[1]d %%"},
		"issue.report.poor":               {En: "below %[1]d %%", Zh: "低于 %[1]d %%"},
		"issue.report.plans":              {En: "Plans made", Zh: "计划数"},
		"issue.report.retries":            {En: "Tried again", Zh: "重试次数"},
		"issue.report.conflicts":          {En: "Conflicts", Zh: "冲突次数"},
		"issue.report.begun":              {En: "Begun", Zh: "开始"},
		"issue.report.ended":              {En: "Ended", Zh: "结束"},
		"issue.report.quality":            {En: "Quality", Zh: "质量"},
		"issue.report.part":               {En: "Part", Zh: "分项"},
		"issue.report.score":              {En: "Score", Zh: "评分"},
		"issue.report.failed":             {En: "Failed issues", Zh: "失败的议题"},
		"issue.quality.completeness":      {En: "Completeness", Zh: "完整性"},
		"issue.quality.consistency":       {En: "Consistency", Zh: "一致性"},
		"issue.quality.correctness":       {En: "Correctness", Zh: "正确性"},
		"issue.quality.clarity":           {En: "Clarity", Zh: "清晰性"},
		"issue.quality_what.completeness": {En: "issues that are completed, of all", Zh: "全部议题中已完成的比例"},
		"issue.quality_what.consistency":  {En: "of those that ended, without a conflict with what others landed", Zh: "已结束的议题中，未与其他落地结果冲突的比例"},
		"issue.quality_what.correctness":  {En: "of those that ended, completed at the first attempt", Zh: "已结束的议题中，首次尝试即完成的比例"},
		"issue.quality_what.clarity":      {En: "of those that were planned, with one plan", Zh: "已规划的议题中，只用一个计划的比例"},
		"issue.verdict.pass":              {En: "pass", Zh: "通过"},
		"issue.verdict.review":            {En: "to be reviewed", Zh: "待复核"},
		"issue.verdict.fail":              {En: "fail", Zh: "不通过"},
	}
}}

// backlogText is the part of the catalogue for keys that begin with "backlog.".
var backlogText = part{load: func() Table {
	const (
		typeEn = "Nothing was imported; correct this place and import again"
		typeZh = "未导入任何内容；请修正此处后重新导入"
	)
	return Table{
		"backlog.malformed": {
			En: "%s is not imported (problems: %d)", Zh: "未导入 %s（问题数：%d）",
			HintEn: "Nothing was changed; correct what is listed and import again", HintZh: "没有任何改动；请修正所列问题后重新导入",
		},
		"backlog.at": {En: "%s", Zh: "%s"},
		"backlog.read": {
			En: "%s cannot be read to its end", Zh: "无法读完 %s",
			HintEn: "Nothing was imported; check the file and import again", HintZh: "未导入任何内容；请检查文件后重新导入",
		},

		"backlog.empty": {
			En: "the file is empty", Zh: "文件为空",
			HintEn: "An empty file is never taken for an empty backlog; check what wrote it", HintZh: "空文件不会被当作空的待办列表；请检查写出它的工具",
		},
		"backlog.cut_off": {
			En: "the file ends in the middle of a value", Zh: "文件在一个值的中间结束",
			HintEn: "It was cut off; take a whole copy", HintZh: "文件被截断；请使用完整的副本",
		},
		"backlog.open_text": {
			En: "a text does not end in its line", Zh: "字符串在本行没有结束",
			HintEn: `Close it with a quotation mark; a line break within a text is written \n`, HintZh: `用引号结束该字符串；字符串中的换行写作 \n`,
		},
		"backlog.json": {En: "not JSON: %s", Zh: "不是 JSON：%s", HintEn: typeEn, HintZh: typeZh},
		"backlog.not_object": {
			En: "an object was expected, and found: %s", Zh: "此处应为对象，实际为：%s",
			HintEn: `Each record is an object such as {"title": "…", "body": "…"}, in lines or in an array`, HintZh: `每条记录是一个对象，如 {"title": "…", "body": "…"}，逐行或放在数组中`,
		},
		"backlog.not_text": {
			En: "not text: a byte that is not UTF-8, or a NUL character", Zh: "不是文本：包含非 UTF-8 字节或 NUL 字符",
			HintEn: "Save the file as UTF-8", HintZh: "请将文件保存为 UTF-8",
		},
		"backlog.too_large": {
			En: "more than the %d bytes that are read here", Zh: "超过此处可读取的 %d 字节",
			HintEn: "Split the backlog into several files and import them one after the other", HintZh: "请把待办列表拆成多个文件，逐个导入",
		},
		"backlog.too_many": {
			En: "more than %d issues", Zh: "议题超过 %d 个",
			HintEn: "Split the backlog into several files and import them one after the other", HintZh: "请把待办列表拆成多个文件，逐个导入",
		},
		"backlog.format": {
			En: "%q is not a form of a backlog", Zh: "%q 不是待办列表的格式",
			HintEn: "The forms are: state, records, markdown", HintZh: "可用格式：state、records、markdown",
		},

		"backlog.twice": {En: "the field %s is given twice", Zh: "字段 %s 重复", HintEn: "Keep one of the two", HintZh: "只保留一个"},
		"backlog.type": {
			En: "the type %s is wanted, %s found", Zh: "类型应为 %s，实际为 %s", HintEn: typeEn, HintZh: typeZh,
		},
		"backlog.missing": {En: "the field %s is missing", Zh: "缺少字段 %s", HintEn: "Add %s", HintZh: "请补上 %s"},
		"backlog.value": {
			En: "%q is not a value of this field", Zh: "%q 不是该字段允许的值",
			HintEn: "pawl machine show board lists the values", HintZh: "pawl machine show board 会列出可用的值",
		},
		"backlog.status": {
			En: "%q is not a status of an issue", Zh: "%q 不是议题的状态",
			HintEn: "Use registered, planning, planned, executing, completed or failed", HintZh: "请使用 registered、planning、planned、executing、completed 或 failed",
		},
		"backlog.priority": {
			En: "%s is not a priority", Zh: "%s 不是优先级",
			HintEn: "Use a number from 1 (critical) to 5, P1 to P5, or critical, high, medium, low, lowest",
			HintZh: "请使用 1（最紧急）到 5 的整数、P1 到 P5，或 紧急、高、中、低、最低",
		},
		"backlog.feedback": {
			En: "%q is not a type of feedback", Zh: "%q 不是反馈的类型",
			HintEn: "Use failure, clarification or rejection", HintZh: "请使用 failure、clarification 或 rejection",
		},
		"backlog.no_title": {En: "the issue has no title", Zh: "该议题没有标题", HintEn: "Add a title", HintZh: "请补上 title"},
		"backlog.no_issue": {
			En: "there is no issue in the document", Zh: "文档中没有议题",
			HintEn: "Write each issue as a heading with text below it, or as a task: - [ ] title", HintZh: "每个议题写成带正文的标题，或任务项：- [ ] 标题",
		},
		"backlog.open_block": {
			En: "a block of code or a comment begins here and does not end", Zh: "此处开始的代码块或注释没有结束",
			HintEn: "Close it with ``` or -->, so that what follows is read", HintZh: "请用 ``` 或 --> 结束它，否则后面的内容不会被读取",
		},
		"backlog.id": {
			En: "%q cannot be the id of an issue", Zh: "%q 不能作为议题的 ID",
			HintEn: "Use at most 200 bytes without blanks", HintZh: "最多 200 字节，不含空白",
		},
		"backlog.number": {
			En: "%s is not the number of an issue", Zh: "%s 不是议题编号", HintEn: typeEn, HintZh: typeZh,
		},
		"backlog.repository": {
			En: "%s does not say which repository it belongs to", Zh: "%s 没有说明属于哪个仓库",
			HintEn: "Export the list with html_url or url, or import it as github:OWNER/REPO", HintZh: "导出时包含 html_url 或 url，或用 github:OWNER/REPO 导入",
		},
		"backlog.duplicate": {
			En: "the id %s stands twice; first in line %d", Zh: "ID %s 重复；首次出现在第 %d 行",
			HintEn: "Give each issue an id of its own", HintZh: "请为每个议题使用唯一 ID",
		},
		"backlog.body": {
			En: "the body has %d bytes, more than %d", Zh: "正文有 %d 字节，超过 %d",
			HintEn: "Keep long logs in files of the project and name them", HintZh: "请把长日志放进项目文件并注明路径",
		},
		"backlog.edges": {
			En: "the issue has %d dependencies, more than %d", Zh: "该议题有 %d 个依赖，超过 %d", HintEn: typeEn, HintZh: typeZh,
		},
		"backlog.no_solution": {
			En: "%s is %s without a solution", Zh: "%s 处于 %s，却没有方案",
			HintEn: "Name the solution in solution_id, or set the status to registered", HintZh: "请在 solution_id 中填写方案，或把状态改为 registered",
		},
		"backlog.other_solution": {
			En: "the item carries out %[1]s, and %[2]s is bound to %[3]q", Zh: "条目执行的是 %[1]s，而 %[2]s 绑定的是 %[3]q",
			HintEn: "Let both name the same solution", HintZh: "请使两处为同一方案",
		},
		"backlog.unknown": {
			En: "a dependency on an issue that is not there: %s", Zh: "依赖的议题不存在：%s",
			HintEn: "Add the issue or correct the reference", HintZh: "请添加该议题或修正引用",
		},
		"backlog.circle": {
			En: "dependencies in a circle: %s", Zh: "循环依赖：%s",
			HintEn: "Take one of these dependencies away", HintZh: "请去掉其中一个依赖",
		},

		"backlog.note_twice":       {En: "%s stands twice with the same text; kept once", Zh: "%s 出现两次且内容相同；只保留一个"},
		"backlog.note_title":       {En: "the title of %s is long; it stands in full at the beginning of the body", Zh: "%s 的标题过长；完整标题在正文开头"},
		"backlog.note_untitled":    {En: "%s has no title and is called by its id", Zh: "%s 没有标题，以 ID 代替"},
		"backlog.note_tags":        {En: "%[1]s has %[2]d tags too many; they are left out", Zh: "%[1]s 的标签多出 %[2]d 个，已略去"},
		"backlog.note_field":       {En: "the field %[1]s is not kept (%[2]d times)", Zh: "未保留字段 %[1]s（%[2]d 次）"},
		"backlog.note_time":        {En: "%[1]s is not a time and is left out: %[2]s", Zh: "%[1]s 不是有效时间，已略去：%[2]s"},
		"backlog.note_value":       {En: "%[1]s is left in the text, as this is not a value of it: %[2]s", Zh: "%[1]s 的值无法识别，保留在正文中：%[2]s"},
		"backlog.note_mark":        {En: "the mark [%[1]s] is read as open: %[2]s", Zh: "标记 [%[1]s] 按未完成处理：%[2]s"},
		"backlog.note_dropped":     {En: "given up and left out: %s", Zh: "已放弃，略去：%s"},
		"backlog.note_text":        {En: "lines outside of issues that are not kept: %d", Zh: "未保留的议题之外的行数：%d"},
		"backlog.note_pulls":       {En: "pull requests left out: %d", Zh: "已略去的拉取请求数：%d"},
		"backlog.note_linked":      {En: "issues with dependencies that GitHub keeps beside the list, which are not imported: %d", Zh: "另在 GitHub 上设置了依赖（不在列表中，未导入）的议题数：%d"},
		"backlog.note_none":        {En: "the list has no issue", Zh: "列表中没有议题"},
		"backlog.note_not_planned": {En: "%s was closed as not planned and is left out", Zh: "%s 已按“不计划”关闭，略去"},
		"backlog.note_pull":        {En: "%[1]s depends on the pull request %[2]s; that is not kept", Zh: "%[1]s 依赖拉取请求 %[2]s；该依赖未保留"},
		"backlog.note_unplanned":   {En: "%[1]s depends on %[2]s, which was closed as not planned; that is not kept", Zh: "%[1]s 依赖的 %[2]s 已按“不计划”关闭；该依赖未保留"},
		"backlog.note_foreign":     {En: "%[1]s depends on %[2]s in another repository; that is not kept", Zh: "%[1]s 依赖其他仓库的 %[2]s；该依赖未保留"},
		"backlog.note_unknown":     {En: "%[1]s depends on %[2]s, which is not there; that is not kept", Zh: "%[1]s 依赖的 %[2]s 不存在；该依赖未保留"},
		"backlog.note_circle":      {En: "dependencies in a circle, of which the last is not kept: %s", Zh: "循环依赖，未保留其中最后一个：%s"},
	}
}}

// githubText is the part of the catalogue for keys that begin with "github.".
var githubText = part{load: func() Table {
	const (
		againEn = "Import again later; what was read is kept"
		againZh = "稍后重新导入；已读取的内容会保留"
		tokenEn = "Set GITHUB_TOKEN to a token that may read the repository's issues, and import again"
		tokenZh = "请把 GITHUB_TOKEN 设为可读取该仓库议题的令牌，然后重新导入"
	)
	return Table{
		"github.repository": {
			En: "%q is not a repository", Zh: "%q 不是仓库",
			HintEn: "Write github:OWNER/REPO, or github:HOST/OWNER/REPO for a server of your own", HintZh: "请写成 github:所有者/仓库；自建服务器写成 github:主机/所有者/仓库",
		},
		"github.base": {
			En: "the address of the API cannot be used", Zh: "无法使用该 API 地址",
			HintEn: "Use https://api.github.com or https://HOST/api/v3, without a user name in it", HintZh: "请使用 https://api.github.com 或 https://主机/api/v3，其中不含用户名",
		},
		"github.bad_token": {
			En: "what stands in %s cannot be a token", Zh: "%s 中的内容不是有效的令牌",
			HintEn: "Set the token alone, without blanks and quotation marks", HintZh: "只放令牌本身，不含空白和引号",
		},
		"github.ca_file": {
			En: "no certificate authority can be read from %s", Zh: "无法从 %s 读取证书颁发机构",
			HintEn: "Name a PEM file: pawl config set github.ca_file FILE", HintZh: "请指定 PEM 文件：pawl config set github.ca_file 文件",
		},

		"github.unreachable": {
			En: "%s cannot be reached", Zh: "无法连接 %s",
			HintEn: "Check the network and the proxy (HTTPS_PROXY), and import again", HintZh: "检查网络和代理（HTTPS_PROXY），然后重新导入",
		},
		"github.certificate": {
			En: "the certificate of %s is not trusted", Zh: "%s 的证书不受信任",
			HintEn: "If the server or a proxy has a certificate authority of its own, name its PEM file: pawl config set github.ca_file FILE", HintZh: "若服务器或代理使用自己的证书颁发机构，请指定其 PEM 文件：pawl config set github.ca_file 文件",
		},
		"github.slow":    {En: "%s did not answer in time", Zh: "%s 未及时响应", HintEn: againEn, HintZh: againZh},
		"github.cut_off": {En: "the answer of %s broke off", Zh: "%s 的回答中断", HintEn: againEn, HintZh: againZh},
		"github.malformed": {
			En: "%s did not answer with issues", Zh: "%s 返回的不是议题",
			HintEn: "Something between here and the API may have answered, such as a proxy or a login page; check the address and import again",
			HintZh: "可能是代理或登录页代为应答；请检查地址后重新导入",
		},
		"github.redirected": {
			En: "%s redirects to another server", Zh: "%s 重定向到了其他服务器",
			HintEn: "The token is not sent there; check the address of the API", HintZh: "令牌不会发送到那里；请检查 API 地址",
		},
		"github.endless": {
			En: "the list of %[1]s does not end (%[2]d pages)", Zh: "%[1]s 的列表没有尽头（%[2]d 页）",
			HintEn: "Import fewer issues: pawl issue import github:OWNER/REPO --labels LABEL", HintZh: "请缩小范围后导入：pawl issue import github:所有者/仓库 --labels 标签",
		},
		"github.many_missing": {
			En: "open issues of %[1]s depend on %[2]d issues that are not in the list, more than %[3]d", Zh: "%[1]s 的未关闭议题依赖 %[2]d 个不在列表中的议题，超过 %[3]d 个",
			HintEn: "Import the closed issues as well: --closed", HintZh: "请把已关闭的议题也一并导入：--closed",
		},
		"github.server": {En: "%[2]s answers with an error of its own (%[1]d)", Zh: "%[2]s 服务器出错（%[1]d）", HintEn: againEn, HintZh: againZh},
		"github.rate_limited": {
			En: "GitHub takes no more requests until %s", Zh: "GitHub 在 %s 之前不再接受请求",
			HintEn: "Import again then; what was read is kept and costs nothing. With GITHUB_TOKEN set there are more requests per hour",
			HintZh: "届时重新导入；已读取的内容会保留且不再计费。设置 GITHUB_TOKEN 后每小时可用的请求更多",
		},
		"github.token_needed":  {En: "%s asks for a token", Zh: "%s 需要令牌", HintEn: tokenEn, HintZh: tokenZh},
		"github.token_refused": {En: "%s refuses the token", Zh: "%s 拒绝了令牌", HintEn: "It may have expired. " + tokenEn, HintZh: "令牌可能已过期。" + tokenZh},
		"github.sso": {
			En: "the organization asks for single sign-on", Zh: "该组织要求单点登录",
			HintEn: "Authorize the token at %[1]s and import again", HintZh: "在 %[1]s 为令牌授权，然后重新导入",
		},
		"github.forbidden": {
			En: "the token may not do this: %s", Zh: "令牌无权执行：%s",
			HintEn: "Give the token the right to read issues (to write them, for comments and labels)", HintZh: "请授予令牌读取议题的权限（评论和标签需要写权限）",
		},
		"github.not_found": {
			En: "%s is not there, or the token may not see it", Zh: "%s 不存在，或令牌无权查看",
			HintEn: "Check the spelling, and that the token covers this repository", HintZh: "请检查拼写，并确认令牌包含该仓库",
		},
		"github.not_found_public": {
			En: "%s is not there, or is not public", Zh: "%s 不存在或不公开",
			HintEn: "Check the spelling. " + tokenEn, HintZh: "请检查拼写。" + tokenZh,
		},
		"github.gone": {
			En: "%s is no longer there; issues may be disabled in the repository", Zh: "%s 已不存在；该仓库可能停用了议题",
			HintEn: "Export the issues to a file and import that: pawl issue import FILE", HintZh: "把议题导出为文件再导入：pawl issue import 文件",
		},
		"github.refused": {
			En: "GitHub refuses the request (%[1]d): %[2]s", Zh: "GitHub 拒绝了请求（%[1]d）：%[2]s",
			HintEn: "Correct what it names and import again", HintZh: "请按提示修正后重新导入",
		},
		"github.broke_off": {
			En: "the import of %[1]s broke off; %[2]d pages are read and kept", Zh: "%[1]s 的导入中断；已读取并保留 %[2]d 页",
		},
		"github.canceled":    {En: "canceled", Zh: "已取消", HintEn: againEn, HintZh: againZh},
		"github.out_of_time": {En: "the time that was given is over", Zh: "给定的时间已用完", HintEn: againEn, HintZh: againZh},
		"github.unknown_outcome": {
			En: "it is not known whether GitHub took the comment", Zh: "无法确认 GitHub 是否已收到评论",
			HintEn: "Look at the issue before it is written again", HintZh: "重新写入前请先查看该议题",
		},
		"github.comment": {
			En: "a comment of %[1]d bytes cannot be written; it has text, at most %[2]d bytes of it", Zh: "无法写入 %[1]d 字节的评论；评论须有内容，且不超过 %[2]d 字节",
			HintEn: "Write a shorter text", HintZh: "请缩短内容",
		},
		"github.label": {
			En: "a label is empty or longer than 100 bytes", Zh: "标签为空或超过 100 字节",
			HintEn: "Name labels as they are called on GitHub", HintZh: "请使用 GitHub 上的标签名",
		},

		"github.read":     {En: "%[1]d issues and pull requests read, in %[2]d pages (%[3]d unchanged)", Zh: "已读取 %[1]d 个议题和拉取请求，共 %[2]d 页（%[3]d 页未变）"},
		"github.waiting":  {En: "GitHub asks to wait for %[1]d s, until %[2]s", Zh: "GitHub 要求等待 %[1]d 秒，到 %[2]s"},
		"github.retrying": {En: "%[1]s does not answer as it should; another try in %[2]d s", Zh: "%[1]s 应答异常，%[2]d 秒后重试"},
	}
}}
