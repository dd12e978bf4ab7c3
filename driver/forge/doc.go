// Package forge speaks with GitHub, GitLab and Gitea: it reads the issues of a repository on GitHub into a backlog and
// writes comments and labels back when it is told to, and makes pull requests of results on all three.
//
// Pages are asked for one after the other, in the order in which issues were created, so that a change of one issue
// changes one page. Each page is kept with its ETag as soon as it was read (Pages): the next import asks for it
// conditionally, which costs nothing where nothing changed, and an import that broke off goes on where it was in the
// same way. Limits of the server's are waited for, up to a bound, and what does not end by itself is an error with the
// next step.
//
// The token is read when it is needed, sent to the API's own address alone, and stands in no error and no file.
package forge
