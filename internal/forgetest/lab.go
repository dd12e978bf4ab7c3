package forgetest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// projects are the numbers of the repositories as GitLab calls them.
var projects = map[string]int{Repository: 7, Fork: 8}

// words are what GitLab's documentation says can be sent to an address, by the method and the last part of it that is a
// word. Gitea's are those of its own.
var (
	labWords = map[string]string{
		"POST merge_requests": "source_branch target_branch title description target_project_id",
		"PUT merge_requests":  "title description state_event", "POST notes": "body", "PUT notes": "body",
		"POST statuses": "state name description target_url"}
	teaWords = map[string]string{"POST pulls": "head base title body", "PATCH pulls": "title body state",
		"POST comments": "body", "PATCH comments": "body", "POST statuses": "state context description target_url"}
)

// worded reports whether all that is sent is what can be sent.
func worded(words map[string]string, method, what string, in object) error {
	if method == http.MethodGet {
		return nil
	}
	allowed, ok := words[method+" "+what]
	for name := range in {
		ok = ok && slices.Contains(strings.Fields(allowed), name)
	}
	if !ok {
		return fmt.Errorf("%s %s does not take %v", method, what, in)
	}
	return nil
}

// lab answers as GitLab does.
func (h *Hub) lab(r *http.Request, in object) (int, any) {
	part := strings.Split(strings.TrimPrefix(r.URL.EscapedPath(), "/projects/"), "/")
	repository, err := url.PathUnescape(part[0])
	id := projects[repository]
	if err != nil || id == 0 {
		return failure(http.StatusNotFound, "404 Project Not Found")
	}
	if part = part[1:]; len(part) == 0 {
		return http.StatusOK, object{"id": id, "path_with_namespace": repository}
	}
	what := part[0]
	if len(part) > 2 {
		what = part[2]
	}
	if part[0] == "repository" {
		what = "statuses"
	}
	if err := worded(labWords, r.Method, what, in); err != nil {
		h.t.Error(err)
	}
	switch {
	case what == "statuses":
		return h.labStatus(r, repository, part, in)
	case what == "notes":
		at := []string{"issues", part[1]}
		if len(part) > 3 {
			at = []string{"issues", "comments", part[3]}
		}
		status, said := h.said(r.Method, at, in)
		return status, each(said, labNote)
	case len(part) == 1 && r.Method == http.MethodPost:
		return h.labOpen(repository, in)
	case repository != Repository:
		return failure(http.StatusNotFound, "404 Not Found")
	case len(part) == 1:
		var out []any
		for i := len(h.Pulls) - 1; i >= 0; i-- {
			if want := r.URL.Query().Get("source_branch"); want == "" || want == h.Pulls[i]["head"].(object)["ref"] {
				out = append(out, labRequest(h.Pulls[i]))
			}
		}
		return http.StatusOK, append([]any{}, out...)
	}
	p := h.pull(part[1])
	if p == nil {
		return failure(http.StatusNotFound, "404 Not Found")
	}
	if text, ok := in["description"]; ok {
		p["body"] = text
	}
	if event, ok := in["state_event"]; ok {
		p["state"] = map[any]string{"close": "closed", "reopen": "open"}[event]
	}
	return http.StatusOK, labRequest(p)
}

func (h *Hub) labOpen(repository string, in object) (int, any) {
	owner, _, _ := strings.Cut(repository, "/")
	target, named := in["target_project_id"]
	if repository != Repository && (!named || fmt.Sprint(target) != fmt.Sprint(projects[Repository])) {
		return failure(http.StatusNotFound, "404 Not Found")
	}
	head := fmt.Sprint(in["source_branch"])
	if h.there(owner, head, in["target_branch"]) {
		return http.StatusConflict, object{"message": []string{
			"Another open merge request already exists for this source branch: !1"}}
	}
	return http.StatusCreated, labRequest(h.open(owner, head, object{"title": in["title"], "body": in["description"],
		"base": in["target_branch"]}))
}

func labRequest(p object) object {
	from, state := p["head"].(object), p["state"]
	switch {
	case p["merged_at"] != nil:
		state = "merged"
	case state == "open":
		state = "opened"
	}
	return object{"id": p["id"], "iid": p["number"], "web_url": p["html_url"], "state": state, "title": p["title"],
		"description": p["body"], "source_branch": from["ref"], "target_branch": p["base"].(object)["ref"],
		"source_project_id": projects[from["repo"].(object)["full_name"].(string)], "target_project_id": projects[Repository],
		"merge_commit_sha": p["merge_commit_sha"]}
}

func labNote(c object) object {
	user, _ := c["user"].(object)
	return object{"id": c["id"], "body": c["body"], "system": false, "author": object{"username": user["login"]},
		"created_at": c["created_at"]}
}

// each puts an answer, or each of a list, into other words.
func each(answer any, how func(object) object) any {
	switch v := answer.(type) {
	case []object:
		out := []object{}
		for _, one := range v {
			out = append(out, how(one))
		}
		return out
	case object:
		if v["id"] != nil {
			return how(v)
		}
	}
	return answer
}

func (h *Hub) labStatus(r *http.Request, repository string, part []string, in object) (int, any) {
	render := func(s object) object {
		return object{"id": s["id"], "sha": s["sha"], "name": s["context"], "status": s["state"],
			"description": s["description"], "target_url": s["target_url"]}
	}
	if r.Method == http.MethodGet {
		status, all := h.commit(r.Method, repository, []string{"commits", part[2], "statuses"}, nil)
		return status, each(all, render)
	}
	if state := in["state"]; state != "success" && state != "failed" {
		h.t.Errorf("the state %v is none of GitLab's", state)
	}
	in["context"] = in["name"]
	delete(in, "name")
	status, made := h.commit(r.Method, repository, []string{"statuses", part[1]}, in)
	return status, each(made, render)
}

// tea answers as Gitea does, which is much like GitHub.
func (h *Hub) tea(r *http.Request, in object) (int, any) {
	repository, rest, ok := whose(r.URL.Path)
	if !ok {
		return failure(http.StatusNotFound, "GetRepository")
	}
	part := strings.Split(rest, "/")
	what := part[0]
	if what == "issues" {
		what = "comments"
	}
	if err := worded(teaWords, r.Method, what, in); err != nil {
		h.t.Error(err)
	}
	status := func(s object) object {
		return object{"id": s["id"], "context": s["context"], "status": s["state"], "description": s["description"]}
	}
	request := func(p object) object {
		out := object{"merged": p["merged_at"] != nil}
		for name, v := range p {
			out[name] = v
		}
		return out
	}
	switch {
	case what == "statuses" || what == "commits":
		code, answer := h.commit(r.Method, repository, part, in)
		return code, each(answer, status)
	case rest == "pulls" && r.Method == http.MethodPost && repository == Repository:
		code, answer := h.propose(in, http.StatusConflict, "pull request already exists for these targets")
		return code, each(answer, request)
	case len(part) == 5: // the lines of a review, which are in no other list here
		return http.StatusOK, page(h.Lines)
	case what == "pulls" && len(part) == 3:
		return http.StatusOK, page(h.Reviews)
	}
	code, answer := h.answer(r, in)
	if what == "pulls" {
		answer = each(answer, request)
	}
	return code, answer
}
