package message

// areas joins the parts of the catalogue. Each part stands in a file of its own, named after its area.
var areas = map[string]Table{
	"id":      idText,
	"plan":    planText,
	"policy":  policyText,
	"sandbox": sandboxText,
	"git":     gitText,
	"file":    fileText,
	"search":  searchText,
	"shell":   shellText,
	"verify":  verifyText,
	"script":  scriptText,
	"store":   storeText,
	"audit":   auditText,
	"kernel":  kernelText,
	"land":    landText,
	"point":   pointText,
	"archive": archiveText,
	"runner":  runnerText,
	"cli":     cliText,
	"machine": machineText,
}
