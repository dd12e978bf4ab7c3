package sandbox
import ("testing";"os/exec";"syscall";"time";"fmt")
func BenchmarkLayout(b *testing.B){ x:=box(b,Options{}); s:=spec(b,""); for b.Loop(){ x.layout(s)} }
func BenchmarkCgroup(b *testing.B){ g:=findGroups(); for b.Loop(){ c:=exec.Command("/bin/true"); c.SysProcAttr=&syscall.SysProcAttr{}; c.Start(); k:=g.enter(c.Process.Pid,100,0); c.Wait(); k.remove()} }
func BenchmarkCgroupOnly(b *testing.B){ g:=findGroups(); for b.Loop(){ k:=g.enter(0,100,0); _=k; for _,d:=range []string{"pids","memory"} { put(g[d],"cgroup.procs","0") }; k.remove()} }
func TestPhases(t *testing.T){ x:=box(t,Options{Mechanism:MechanismNamespaces}); s:=spec(t,""); s.Argv=[]string{"/bin/true"}
 x.run(t.Context(), s)
 for range 5 {
 t0:=time.Now(); m,_:=x.layout(s); t1:=time.Now()
 o := order{argv: s.Argv, env: s.Env, dir: s.Dir, mounts: m, scratch: scratchSize(), own:true}
 c,err:=spawn(o,s,x.groups()); if err!=nil{t.Fatal(err)}
 t2:=time.Now(); s.MaxProcs=100
 c.greet(s); t3:=time.Now()
 c.control.Write(message(msgOrder, o.encode())); receive(c.in); t4:=time.Now()
 receive(c.in); t5:=time.Now(); c.end(); t6:=time.Now(); c.close(); t7:=time.Now()
 fmt.Println("layout",t1.Sub(t0),"spawn",t2.Sub(t1),"greet+cg",t3.Sub(t2),"walls",t4.Sub(t3),"cmd",t5.Sub(t4),"end",t6.Sub(t5),"close",t7.Sub(t6))
 }}
