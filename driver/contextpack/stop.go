package contextpack

import (
	"strings"
	"sync"
)

// stopWords say nothing about what a requirement is about: they are grammar, or in every requirement and every program.
var stopWords = wordSet(`
a about above after again all also always an and any anything are as at be because been before being below between both but by
can cannot could did do does doing done down during each either else etc even every few for from get gets give given go goes
got had has have having he her here him his how however i if in instead into is isn it its itself just keep last later less
let like lot make makes making many may me might more most much must my need needs never new no nor not nothing now of off ok
on once one only onto or other our out over own per please rather really same say says see seem seems shall she should since
so some something still such sure take than that the their them then there these they thing things this those through to
together too two under until up upon us use used uses using very via want wanted wants was way we well were what when where
whether which while who whole whose why will with within without won work works would yes yet you your
add added adds adding bug bugs change changed changes code correct currently error errors expected expect fail failed failing
fails failure fix fixed fixes got implement implemented issue issues line lines problem requirement run running support test
tests todo update updated wrong ensure program
int string func return nil err true false var const type import package public private static void self null none
`)

// stopPairs are pairs of Chinese characters that say as little.
var stopPairs = wordSet(`
一个 一下 这个 那个 这些 那些 我们 你们 他们 可以 需要 应该 没有 不是 就是 还是 如果 但是 因为 所以 以及 或者 而且 然后 时候 问题 修复 错误
请在 请将 请把 并且 进行 使用 现在 目前 出现 导致 无法 不能 添加 增加 修改 实现 支持 功能 代码 测试 失败 期望 实际
`)

// wordSet makes a set of words when it is first needed, because most starts of a program put no pack together.
func wordSet(text string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		out := map[string]bool{}
		for w := range strings.FieldsSeq(text) {
			out[w] = true
		}
		return out
	})
}
