package message

// sandboxText is the part of the catalogue for keys that begin with "sandbox.".
var sandboxText = part{load: func() Table {
	return Table{
		"sandbox.keyring_entry": {
			En: "%q names no entry of a keyring", Zh: "%q 不是密钥环条目",
			HintEn: "Write it as SERVICE/ACCOUNT, for instance: pawl config set model.key_keyring openai/me", HintZh: "请写成 服务/账户，例如：pawl config set model.key_keyring openai/me",
		},
		"sandbox.keyring_none": {
			En: "pawl knows no keyring of %s", Zh: "pawl 不支持 %s 的密钥环",
			HintEn: "Put the key into a file that only you can read: pawl config set model.key_file PATH", HintZh: "把密钥放入仅本人可读的文件：pawl config set model.key_file 路径",
		},
		"sandbox.keyring_tool": {
			En: "the keyring cannot be asked: the program %[1]s is not installed (it comes with %[2]s)", Zh: "无法访问密钥环：未安装程序 %[1]s（属于 %[2]s）",
			HintEn: "Install %[2]s, or put the key into a file that only you can read: pawl config set model.key_file PATH", HintZh: "安装 %[2]s，或把密钥放入仅本人可读的文件：pawl config set model.key_file 路径",
		},
		"sandbox.keyring_secret": {
			En: "the keyring gives no secret for %[1]s", Zh: "密钥环没有给出 %[1]s 的密钥",
			HintEn: "Put it there with: %[2]s; and open the keyring where it is locked", HintZh: "用 %[2]s 存入；若密钥环已锁定请先解锁",
		},
		"sandbox.argv_empty": {
			En: "there is no command to run", Zh: "没有要运行的命令",
			HintEn: "Give the command's name as the first argument", HintZh: "请把命令名作为第一个参数给出",
		},
		"sandbox.canceled": {
			En: "canceled before it began", Zh: "尚未开始即已取消",
		},
		"sandbox.dir": {
			En: "the working directory %q does not exist behind the walls", Zh: "沙箱内不存在工作目录 %q",
			HintEn: "Choose a directory of the workspace", HintZh: "请选择工作区内的目录",
		},
		"sandbox.disk_full": {
			En: "no space left while writing %q", Zh: "写入 %q 时磁盘空间不足",
			HintEn: "Free some space; nothing was half written, so the same step can be repeated", HintZh: "请腾出空间；没有留下写了一半的内容，可以重做这一步",
		},
		"sandbox.egress": {
			En: "what carries a command's connections out has failed", Zh: "负责转发命令外联的代理出错",
			HintEn: "Try the step again", HintZh: "请重试这一步",
		},
		"sandbox.egress_no_registry": {
			En: "the settings of this machine name no registry for %s", Zh: "本机设置没有为 %s 指定注册表",
			HintEn: "Name the host itself among the plan's network grants", HintZh: "请在计划的 network 中直接写出主机",
		},
		"sandbox.egress_port": {
			En: "port %d of this machine was not granted", Zh: "本机端口 %d 未获授权",
			HintEn: "Name it among the plan's network grants as 127.0.0.1:PORT", HintZh: "请在计划的 network 中以 127.0.0.1:端口 的形式列出",
		},
		"sandbox.egress_rule": {
			En: "%q names no place that can be granted", Zh: "%q 不是可以授权的网络地址",
			HintEn: "Write a host or host:port, such as proxy.golang.org or registry.example.com:8443; an address only of the loopback, such as 127.0.0.1:11434",
			HintZh: "请写成 host 或 host:port，例如 proxy.golang.org 或 registry.example.com:8443；IP 地址只允许回环地址，例如 127.0.0.1:11434",
		},
		"sandbox.secret_spec": {
			En: "a secret for a command is too long, or its descriptor %[1]d is none that it can have", Zh: "交给命令的机密过长，或描述符 %[1]d 不可用",
		},
		"sandbox.egress_spec": {
			En: "a command can have granted places or the whole network, and at most 64 ports of its own machine", Zh: "命令只能获得已授权的地址或整个网络之一，且本机端口最多 64 个",
			HintEn: "Ask for fewer places", HintZh: "请减少要求的地址",
		},
		"sandbox.exists": {
			En: "%q exists already or is not empty", Zh: "%q 已存在或不为空",
			HintEn: "Choose another name, or remove what is there first", HintZh: "请换一个名字，或先移除已有的内容",
		},
		"sandbox.hardlink": {
			En: "%q has several hard links, so a change would show elsewhere too", Zh: "%q 有多个硬链接，修改会影响别处",
			HintEn: "Replace it by a copy of its own (cp, then mv), and try again", HintZh: "请先用独立的副本替换它（cp 后 mv），再重试",
		},
		"sandbox.io": {
			En: "%q could not be read or written", Zh: "无法读写 %q",
			HintEn: "Check the disk and the file's permissions", HintZh: "请检查磁盘和文件权限",
		},
		"sandbox.is_dir": {
			En: "%q is a directory", Zh: "%q 是目录",
			HintEn: "Name a file in it", HintZh: "请指定其中的文件",
		},
		"sandbox.kind": {
			En: "a part of %q is a file where a directory is needed, or the other way round", Zh: "%q 中有一部分本应是目录却是文件，或者相反",
			HintEn: "List the directory above it to see what is there", HintZh: "请列出上级目录查看实际内容",
		},
		"sandbox.launcher": {
			En: "the command's launcher broke down", Zh: "命令启动器出现故障",
			HintEn: "Repeat the step; if it happens again, run pawl doctor", HintZh: "请重做这一步；若再次发生，请运行 pawl doctor",
		},
		"sandbox.mechanism": {
			En: "there is no sandbox mechanism %q", Zh: "不存在名为 %q 的沙箱机制",
			HintEn: "Use auto, bwrap, namespaces, landlock or outer", HintZh: "请使用 auto、bwrap、namespaces、landlock 或 outer",
		},
		"sandbox.missing": {
			En: "%q does not exist", Zh: "%q 不存在",
			HintEn: "Check the name; list the directory to see what is there", HintZh: "请检查名称；可列出目录查看实际内容",
		},
		"sandbox.name": {
			En: "%q cannot be the name of a file", Zh: "%q 不能用作文件名",
			HintEn: "Use a name that is not empty and has no NUL character", HintZh: "请使用非空且不含 NUL 字符的名称",
		},
		"sandbox.no_bwrap": {
			En: "bubblewrap is not installed", Zh: "未安装 bubblewrap",
			HintEn: "Install the package bubblewrap, or set the mechanism to auto", HintZh: "请安装 bubblewrap 软件包，或将机制设为 auto",
		},
		"sandbox.no_command": {
			En: "the command %q was not found: toolchain missing", Zh: "找不到命令 %q：缺少工具链",
			HintEn: "Install it, or put its directory on PATH, and resume", HintZh: "请安装它，或将其目录加入 PATH，然后继续",
		},
		"sandbox.no_exec": {
			En: "the command %q cannot be executed", Zh: "无法执行命令 %q",
			HintEn: "Check that it is executable, made for this machine, and begins with #! if it is a script", HintZh: "请确认它可执行、适用于本机；若为脚本，应以 #! 开头",
		},
		"sandbox.not_dir": {
			En: "%q is not a directory", Zh: "%q 不是目录",
			HintEn: "Name the directory that holds it", HintZh: "请指定它所在的目录",
		},
		"sandbox.not_regular": {
			En: "%q is a device, a pipe, a socket or a link, not a plain file", Zh: "%q 是设备、管道、套接字或链接，而非普通文件",
			HintEn: "Only plain files are read and written", HintZh: "只能读写普通文件",
		},
		"sandbox.nul": {
			En: "a command, variable or path holds a NUL character", Zh: "命令、变量或路径含有 NUL 字符",
			HintEn: "Remove it; no program could receive it", HintZh: "请删除该字符；任何程序都无法接收它",
		},
		"sandbox.outside": {
			En: "%q leads outside the workspace", Zh: "%q 指向工作区之外",
			HintEn: "Use a path inside the workspace, relative to its top", HintZh: "请使用工作区内、相对其顶层的路径",
		},
		"sandbox.path_relative": {
			En: "the path %q is not absolute", Zh: "路径 %q 不是绝对路径",
			HintEn: "Give the full path, beginning with /", HintZh: "请给出以 / 开头的完整路径",
		},
		"sandbox.protected": {
			En: "%q belongs to git's or pawl's own data, which tools may not change", Zh: "%q 属于 git 或 pawl 自身的数据，工具不得修改",
			HintEn: "Leave it to git and pawl commands", HintZh: "请交由 git 和 pawl 命令处理",
		},
		"sandbox.protected_link": {
			En: "%q is a symbolic link and cannot be kept read-only", Zh: "%q 是符号链接，无法保持只读",
			HintEn: "Replace the link by a directory, or by a git file (git init --separate-git-dir)", HintZh: "请用目录或 gitfile（git init --separate-git-dir）替换该链接",
		},
		"sandbox.range": {
			En: "the range of %q from %d for %d bytes cannot be read", Zh: "无法读取 %q 中从 %d 起 %d 字节的范围",
			HintEn: "Use an offset of zero or more and a length of at most 64 MiB", HintZh: "偏移须不小于零，长度不超过 64 MiB",
		},
		"sandbox.read_only": {
			En: "%q is on a read-only file system", Zh: "%q 位于只读文件系统上",
			HintEn: "Make the file system writable, and resume", HintZh: "请将文件系统改为可写，然后继续",
		},
		"sandbox.refused": {
			En: "access to %q was refused", Zh: "访问 %q 被拒绝",
			HintEn: "Check the permissions and the links on the way to it", HintZh: "请检查路径上的权限和链接",
		},
		"sandbox.root_itself": {
			En: "%q is the workspace itself, which tools may not change", Zh: "%q 是工作区本身，工具不得修改",
			HintEn: "Name something inside it", HintZh: "请指定其中的内容",
		},
		"sandbox.swapped": {
			En: "%q was replaced while it was being opened", Zh: "%q 在打开过程中被替换",
			HintEn: "Stop what changes the tree at the same time, and try again", HintZh: "请停止同时改动目录树的程序，再重试",
		},
		"sandbox.system": {
			En: "commands cannot be walled in on %s", Zh: "在 %s 上无法隔离命令",
			HintEn: "Run pawl on Linux, in a virtual machine or a container, to let it run commands", HintZh: "请在 Linux（虚拟机或容器亦可）上运行 pawl，以便执行命令",
		},
		"sandbox.too_big": {
			En: "%q has %d bytes, more than the %d that are read", Zh: "%q 有 %d 字节，超过可读取的 %d 字节",
			HintEn: "Read a range of it", HintZh: "请只读取其中一段",
		},
		"sandbox.too_long": {
			En: "the arguments and variables of %q are longer than the system allows", Zh: "%q 的参数和变量超过系统允许的长度",
			HintEn: "Pass long input through a file or standard input", HintZh: "请通过文件或标准输入传递较长的内容",
		},
		"sandbox.walls": {
			En: "the sandbox is not available, so nothing was run", Zh: "沙箱不可用，因此未运行任何命令",
			HintEn: "Run pawl doctor: it names the missing layer. Installing bubblewrap or allowing unprivileged user namespaces usually helps",
			HintZh: "请运行 pawl doctor 查看缺少的层。安装 bubblewrap 或允许非特权用户命名空间通常可以解决",
		},
		"sandbox.shown_outside": {
			En: "nothing can be shown at %q: it lies in no folder of the command's, or behind a link in it", Zh: "无法在 %q 显示任何内容：它不在该命令的目录中，或位于其中的链接之后",
			HintEn: "Remove the link, or put a folder in its place", HintZh: "请删除该链接，或以目录代替",
		},
		"sandbox.shown_taken": {
			En: "the dependencies cannot be shown at %q: something that is no folder stands there", Zh: "无法在 %q 显示依赖：该处存在的不是目录",
			HintEn: "Remove it; the folder with the dependencies belongs there", HintZh: "请将其删除；该处应为依赖所在的目录",
		},
		"sandbox.cannot_hide": {
			En: "this machine gives pawl no way to hide %q from a command that works in that folder", Zh: "本机无法对在该目录中工作的命令隐藏 %q",
			HintEn: "If it is a setting of an agent, trust what it says: pawl agent trust NAME; pawl doctor tells what would let it be hidden",
			HintZh: "若它是某个智能体的设置，可信任其内容：pawl agent trust NAME；pawl doctor 会说明如何才能隐藏",
		},
		"sandbox.cause_sysctl": {
			En: "%[1]s is %[2]s, which forbids namespaces; allow them with: sudo sysctl -w %[1]s=%[3]s", Zh: "%[1]s 为 %[2]s，禁止了命名空间；可用以下命令允许：sudo sysctl -w %[1]s=%[3]s",
		},
		"sandbox.cause_limit": {
			En: "as many namespaces as a namespace around this one may have are in use (ENOSPC; %[1]s is %[2]s here); raise it where this container or session was started: sysctl -w %[1]s=%[3]s", Zh: "外层命名空间允许的命名空间数已用尽（ENOSPC；此处 %[1]s 为 %[2]s）；请在启动该容器或会话之处提高：sysctl -w %[1]s=%[3]s",
		},
		"sandbox.cause_apparmor": {
			En: "AppArmor takes the rights in namespaces away (%[1]s is %[2]s); give pawl a profile: pawl doctor --apparmor | sudo tee /etc/apparmor.d/pawl && sudo apparmor_parser -r /etc/apparmor.d/pawl", Zh: "AppArmor 收回了命名空间内的权限（%[1]s 为 %[2]s）；请为 pawl 添加配置：pawl doctor --apparmor | sudo tee /etc/apparmor.d/pawl && sudo apparmor_parser -r /etc/apparmor.d/pawl",
		},
		"sandbox.cause_seccomp": {
			En: "a filter of system calls refuses namespaces, as those of containers do (%[1]s); start the container with: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined", Zh: "系统调用过滤器拒绝命名空间，容器通常如此（%[1]s）；请这样启动容器：docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined",
		},
		"sandbox.cause_unknown": {
			En: "nothing that pawl knows explains why namespaces are refused", Zh: "pawl 无法解释命名空间为何被拒绝",
		},
		"sandbox.walls_sysctl": {
			En: "this machine lets pawl hold no command, so nothing was run: %[1]s is %[2]s, which forbids namespaces, and Landlock does not stand in", Zh: "本机无法隔离命令，因此未运行任何命令：%[1]s 为 %[2]s，禁止了命名空间，而 Landlock 不可用",
			HintEn: "Allow namespaces with: sudo sysctl -w %[1]s=%[3]s; where this container or VM is itself the wall, say so with: pawl config set isolation outer", HintZh: "用 sudo sysctl -w %[1]s=%[3]s 允许命名空间；若该容器或虚拟机本身即为隔离，请运行：pawl config set isolation outer",
		},
		"sandbox.walls_limit": {
			En: "this machine lets pawl hold no command, so nothing was run: as many namespaces as a namespace around this one may have are in use (%[1]s is %[2]s here), and Landlock does not stand in", Zh: "本机无法隔离命令，因此未运行任何命令：外层命名空间允许的命名空间数已用尽（此处 %[1]s 为 %[2]s），而 Landlock 不可用",
			HintEn: "Raise it where this container or session was started: sysctl -w %[1]s=%[3]s; where this container or VM is itself the wall, say so with: pawl config set isolation outer", HintZh: "在启动该容器或会话之处提高：sysctl -w %[1]s=%[3]s；若该容器或虚拟机本身即为隔离，请运行：pawl config set isolation outer",
		},
		"sandbox.walls_apparmor": {
			En: "this machine lets pawl hold no command, so nothing was run: AppArmor takes the rights in namespaces away (%[1]s is %[2]s), and Landlock does not stand in", Zh: "本机无法隔离命令，因此未运行任何命令：AppArmor 收回了命名空间内的权限（%[1]s 为 %[2]s），而 Landlock 不可用",
			HintEn: "Load the profile that this prints: pawl doctor --apparmor", HintZh: "加载以下命令输出的配置：pawl doctor --apparmor",
		},
		"sandbox.walls_seccomp": {
			En: "this machine lets pawl hold no command, so nothing was run: a filter of system calls refuses namespaces, as those of containers do (%[1]s), and Landlock does not stand in", Zh: "本机无法隔离命令，因此未运行任何命令：系统调用过滤器拒绝命名空间，容器通常如此（%[1]s），而 Landlock 不可用",
			HintEn: "Start the container with: docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined; where it is itself the wall, say so with: pawl config set isolation outer", HintZh: "这样启动容器：docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined；若容器本身即为隔离，请运行：pawl config set isolation outer",
		},
		"sandbox.weak_processes":     {En: "commands see the names and command lines of other processes, not what they hold", Zh: "命令可以看到其他进程的名称和命令行，但看不到其内容"},
		"sandbox.weak_metadata":      {En: "commands see that a file exists, its size and its times, not its contents", Zh: "命令可以看到文件是否存在及其大小和时间，但看不到内容"},
		"sandbox.weak_shared_memory": {En: "commands read and change what your other programs share by name in /dev/shm", Zh: "命令可以读取和更改你的其他程序在 /dev/shm 中共享的内容"},
		"sandbox.weak_inside":        {En: "what is hidden inside of the folder that a command works in can be read there, such as .pawl in place", Zh: "命令工作目录内被隐藏的内容可以被读取，例如就地工作时的 .pawl"},
		"sandbox.weak_servers":       {En: "other programs of this machine reach the servers that commands start on the loopback", Zh: "本机的其他程序可以连接命令在回环地址上启动的服务"},
		"sandbox.weak_tuning":        {En: "commands can change the priority of your other processes", Zh: "命令可以更改你的其他进程的优先级"},
		"sandbox.weak_limits":        {En: "nothing bounds the memory of commands: no cgroup can be made", Zh: "命令的内存没有上限：无法创建 cgroup"},
		"sandbox.weak_files":         {En: "commands read and change every file of this machine that you can", Zh: "命令可以读取和更改你在本机可访问的所有文件"},
		"sandbox.weak_network":       {En: "commands use the network, and reach your other processes", Zh: "命令可以使用网络，并可触及你的其他进程"},
		"sandbox.writable_root": {
			En: "%q may not be writable for commands: it is a system directory, your home, or holds one of them", Zh: "命令不得写入 %q：它是系统目录或主目录，或包含它们",
			HintEn: "Work in a directory of the project's own", HintZh: "请在项目自己的目录中工作",
		},
	}
}}
