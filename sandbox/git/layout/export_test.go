package layout

// InspectWith is Inspect with other files for the system's configuration, since tests must not depend on the machine's.
var InspectWith = inspectWith
