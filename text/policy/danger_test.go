package policy_test

import (
	"slices"
	"testing"

	"pawl/text/policy"
)

func TestDangers(t *testing.T) {
	for _, c := range []struct {
		command string
		want    []policy.Danger
	}{
		{"ls; rm -rf src", []policy.Danger{{Harm: policy.HarmDataLoss, Start: 4, End: 14}}},
		{"sudo git push -f", []policy.Danger{{Harm: policy.HarmPrivilege, End: 16},
			{Harm: policy.HarmHistory, End: 16}}},
		{"ssh prod 'kill -9 5'", []policy.Danger{{Harm: policy.HarmProduction, End: 19},
			{Harm: policy.HarmOutage, End: 19}}},
		{"psql -c 'drop table x'", []policy.Danger{{Harm: policy.HarmDataLoss, Start: 9, End: 19}}},
		{"RAILS_ENV=production rake db:migrate", []policy.Danger{{Harm: policy.HarmProduction, End: 20}}},
		{"gh release create v1", []policy.Danger{{Harm: policy.HarmExternal, End: 20}}},
		{"git push origin +main", []policy.Danger{{Harm: policy.HarmHistory, End: 21}}},
		{"git push origin :", nil}, {"git clean -nfd", nil}, {"git push --force --dry-run", nil},
		{"aws s3 rm --recursive s3://b", []policy.Danger{{Harm: policy.HarmDataLoss, End: 28}}},
		{"aws ec2 terminate-instances", []policy.Danger{{Harm: policy.HarmDataLoss, End: 27}}},
		{"kubectl --context prod diff", nil}, {"docker volume ls", nil}, {"npm run publish", nil},
		{"docker volume -f rm x", []policy.Danger{{Harm: policy.HarmDataLoss, End: 21}}},
		// A word without a letter is a word as well.
		{"dropdb ''", []policy.Danger{{Harm: policy.HarmDataLoss, End: 6}}},
		// What is no command is judged by its words.
		{"# rm -rf a\n(rm -rf b", nil}, {"rm -rf b (", []policy.Danger{{Harm: policy.HarmDataLoss, End: 10}}},
	} {
		got := policy.Dangers(c.command)
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %+v, want %+v", c.command, got, c.want)
		}
	}
}
