package main

// row is a hostile case, or several that are held alike, and the tests that hold it: of a package, by names.
type row struct {
	from, to int
	oracle   string // as docs/spec/threats.md names them
	pkg      string
	tests    string
}

const (
	payloads = "TestHostilePayloads TestWallsHoldForAnOrdinaryUser"
	policy   = "text/policy"
	sandbox  = "sandbox"
)

// cases are those of docs/spec/threats.md#cases.
var cases = []row{
	{1, 30, "O1 O2 O5", sandbox, payloads},
	{1, 27, "ASK DENY", policy, "TestAdversarialPayloads TestQuestionsAndRefusals TestPrefixesDoNotWeaken"},
	{28, 30, "REJECT LIVE", policy, "TestParseCommand TestHostileTextIsBounded"},
	{31, 37, "O1", "sandbox/git", "TestHostileRepository TestRepositoryDoesNotChangeTheWayToARemote"},
	{31, 37, "O1", "driver/land", "TestHostileRepository"},
	{38, 44, "ASK DENY", policy, "TestAdversarialPayloads TestInspectGit TestInspectGitSaysWhatWouldRun"},
	{38, 44, "O1 O4", sandbox, payloads},
	{45, 50, "O1", "sandbox/safeopen", "TestNamesThatLeadOutside TestInternalsAreNotForTools TestSpecialFilesAreRefusedAtOnce TestRace"},
	{51, 51, "REJECT", "driver/file", "TestPatchRefusals TestEnvelope"},
	{52, 52, "O1", "driver/file", "TestRequest TestRefusals"},
	{53, 57, "ASK DENY O2", policy, "TestPaths TestDangers"},
	{53, 57, "O2", sandbox, "TestInternalsOfAWorkspaceAreReadOnly"},
	{58, 58, "O1", sandbox, "TestSecretsAreHidden TestSpecsThatMakeNoSense"},
	{59, 59, "INERT", "kernel/view", "TestActiveContext TestStateJSONIsValid"},
	{60, 60, "O4", sandbox, "TestSecretsOfTheTreeAreMasked TestWhatIsHiddenOfAHome"},
	{60, 60, "O4", "driver/search", "TestHiddenFromTheTools TestHiddenBehindWalls"},
	{61, 61, "O1 LIVE", sandbox, payloads + " TestBombsEndWithTheReason"},
	{62, 62, "DENY", "driver/verify", "TestVerifyTampered TestVerifyFindsChangedTests"},
	{63, 63, "DENY", "sandbox/safeopen", "TestInternalsAreNotForTools"},
	{64, 64, "O3", sandbox, "TestNothingGetsOut TestAGrantedNetworkOpensNothingElse"},
	{65, 65, "O3", sandbox, "TestNamedSockets TestOwnServersAreReachedAndNoOthers"},
	{66, 66, "O4 O5", sandbox, "TestOtherProcessesAreInvisible TestNothingGetsOut"},
	{67, 67, "O4", sandbox, "TestOtherProcessesAreInvisible TestASecretIsReadOnce"},
	{68, 68, "O4", sandbox, "TestEnvironIsMinimal TestUserinfo"},
	{69, 69, "O5", sandbox, "TestNobodyIsLeft TestDaemonsAreEndedWithTheCommand TestAKilledPawlTakesItsCommandsAlong"},
	{70, 70, "LIVE O5", sandbox, "TestBombsEndWithTheReason TestProcessesAndMemoryAreBounded TestAGibibyteOfOutput"},
	{71, 71, "CONTAIN", sandbox, "TestNothingGetsOut TestOtherWaysAroundTheFloor"},
	{72, 72, "CONTAIN", sandbox, "TestWithoutWallsNothingRuns TestWithoutAFloorNothingRunsButInAnOuterWall TestWhatComesAndGoesStopsNothing"},
	{73, 73, "REJECT", "driver/shell", "TestRefusals TestSpec"},
	{74, 74, "O2", sandbox, "TestWritesOutsideAreRefused TestNothingIsWrittenThroughHardLinks"},
	{75, 75, "O1", sandbox, "TestTmpIsPrivateAndHomeIsFresh"},
	{76, 82, "DENY", "face/mcp", "TestGuard TestOnlyLoopback TestHTTP TestWall"},
	{83, 86, "LIVE", "face/mcp", "TestAnswersAreBounded TestErrorsAreBoundedAndEscaped TestHTTP"},
	{87, 87, "O7 INERT", "face/approver", "TestSignedOnce"},
	{87, 88, "O7 INERT", "face/mcp", "TestQuestionIsParkedUntilAPersonAnswers TestAutonomyIsNotInherited TestProposalWaitsForAPerson"},
	{89, 89, "INERT", "face/cli", "TestProjectMayOnlyTighten TestTrustIsAsked TestServersAreTheUsersOwn"},
	{90, 91, "DENY INERT", "agent/mcptools", "TestRugPull TestAnotherProgram TestInjection"},
	{92, 94, "O6", "face/cli", "TestHostileText TestCutPlanMustBeSeen"},
	{95, 95, "O4", "agent/llm", "TestKeyStaysHere TestNoKeyForOthers"},
	{96, 97, "O7", "kernel/audit", "TestSealCannotBeForged TestVerifyFindsEveryMutation"},
	{98, 98, "DENY", "kernel", "TestModesBind TestAgentsDecideNothing"},
	{99, 99, "O3", "sandbox/egress", "TestRefusals TestPrivateAddresses TestNameIsResolvedOnce"},
	{100, 100, "REJECT", "text/strictjson", "TestRefused"},
	{100, 100, "REJECT", "face/mcp", "TestArgumentsAreStrict"},
}

// seen are those of docs/spec/threats.md#seen.
var seen = []row{
	{1, 2, "O3", sandbox, "TestNamedSockets"},
	{3, 3, "LIVE", sandbox, "TestWhatComesAndGoesStopsNothing TestSocketsOfOthersStopNothing"},
	{4, 5, "O4", sandbox, "TestWhatIsHiddenOfAHome TestSecretsAreHidden TestInstalledProgramsAreThere"},
	{6, 7, "O4", sandbox, "TestSecretsOfTheTreeAreMasked"},
	{8, 8, "O2", sandbox, "TestNothingIsWrittenThroughHardLinks TestManyPackagesAreLookedThrough"},
	{9, 12, "LIVE O5", sandbox, "TestBombsEndWithTheReason TestProcessesAndMemoryAreBounded"},
	{13, 13, "CONTAIN", "face/walls", "TestSettingsChooseTheWalls"},
	{13, 13, "CONTAIN", sandbox, payloads},
	{14, 14, "CONTAIN", sandbox, "TestCommandsWorkWithoutNamespaces TestWeakerPointsAreNamed"},
	{14, 14, "CONTAIN", "sandbox/prove", "TestWallsAreProved TestAMissingWallIsNoticed"},
	{15, 15, "O5", sandbox, "TestDaemonsAreEndedWithTheCommand"},
	{16, 16, "LIVE", sandbox, "TestAGibibyteOfOutput"},
	{17, 17, "O1", "sandbox/safeopen", "TestNamesThatLeadOutside TestSpecialFilesAreRefusedAtOnce TestRace"},
}
