// Package allow is the list of what commands may read of a machine, from / down. All else is hidden, so that a file
// that nobody thought of is never shown. What a single command needs besides is named by its Spec, and what a person
// allows by the setting readable.
package allow

// Place lists the parts of a directory that commands may read.
type Place struct {
	// Variable names the directory, "" if it is always at Dir.
	Variable string
	// Dir is the directory, or its default below a home.
	Dir string
	// Parts are glob patterns relative to the directory, separated by spaces; "." stands for all of it. A part after
	// "!" is hidden although another part covers it. A file after "?" is readable only if it holds no secret.
	Parts string
}

// whole are the directories below / that commands read completely, or that the sandbox replaces.
var whole = []string{"/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/nix", "/gnu", "/snap",
	"/dev", "/proc", "/sys", "/tmp"}

// prefixParts are the parts of a directory in which software is installed.
const prefixParts = "bin sbin lib lib32 lib64 libexec share include"

// SystemPlaces are the parts of system directories that are otherwise hidden.
var SystemPlaces = []Place{
	{Dir: "/usr/local", Parts: prefixParts + " games"},
	{Dir: "/etc", Parts: "alternatives bash.bashrc bashrc inputrc terminfo " +
		"hosts host.conf hostname resolv.conf nsswitch.conf gai.conf networks protocols services ethertypes rpc " +
		"netconfig " +
		"passwd group login.defs shells " +
		"ld.so.cache ld.so.conf ld.so.conf.d ld-musl-*.path " +
		"localtime timezone locale.conf locale.alias locale.gen default/locale " +
		"os-release lsb-release *-release *_version " +
		"ca-certificates ca-certificates.conf ssl/certs ssl/cert.pem ssl/ca-bundle.pem ssl/openssl.cnf " +
		"crypto-policies " +
		"pki/ca-trust pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf pki/java gnutls " +
		"mime.types magic magic.mime mailcap fonts xml sgml papersize " +
		"java* !java*/management/jmxremote.password maven/m2.conf maven/logging " +
		"ant/ant.conf python* perl php/*/cli php/*/mods-available php.ini php.d " +
		"?gemrc dotnet R texmf odbcinst.ini ImageMagick-* chromium.d glvnd vulkan OpenCL egl clang dpkg rpm " +
		"?nix/nix.conf static gitconfig gitattributes"},
	{Dir: "/var", Parts: "lib/dpkg/status lib/dpkg/info lib/dpkg/arch lib/ghc lib/gems lib/texmf lib/ca-certificates " +
		"lib/sgml-base lib/xml-core lib/mecab lib/aspell lib/dictionaries-common lib/snapd/snap cache/fontconfig"},
	{Dir: "/run", Parts: "current-system opengl-driver"},
}

// Toolchains are the places of toolchains and package managers: of a home and of what a variable names, these parts and
// nothing else are readable.
var Toolchains = []Place{
	{"GOPATH", "go", "bin pkg !pkg/mod/cache/vcs"},
	{"GOMODCACHE", "go/pkg/mod", ". !cache/vcs"},
	{"GOROOT", "", "."},
	{"CARGO_HOME", ".cargo", "bin env git registry ?config.toml ?config"},
	{"RUSTUP_HOME", ".rustup", "toolchains settings.toml"},
	{"JAVA_HOME", "", "."},
	{"ANDROID_HOME", "", "build-tools cmdline-tools platforms platform-tools ndk cmake licenses sources extras tools"},
	{"FLUTTER_ROOT", "", "."},
	{"PUB_CACHE", ".pub-cache", "bin hosted hosted-hashes git global_packages !git/cache/*/config"},
	{"DOTNET_ROOT", ".dotnet", "dotnet host sdk shared packs templates tools sdk-manifests library-packs"},
	{"NUGET_PACKAGES", ".nuget/packages", "."},
	{"NVM_DIR", ".nvm", "alias versions nvm.sh nvm-exec"},
	{"VOLTA_HOME", ".volta", "bin tools layout.v*"},
	{"PYENV_ROOT", ".pyenv", "bin libexec shims versions version plugins pyenv.d completions !plugins/*/.git"},
	{"RBENV_ROOT", ".rbenv", "bin libexec shims versions version plugins rbenv.d completions !plugins/*/.git"},
	{"ASDF_DATA_DIR", ".asdf", "bin lib asdf.sh installs shims plugins !plugins/*/.git"},
	{"SDKMAN_DIR", ".sdkman", "bin candidates"},
	{"GEM_HOME", "", "bin build_info bundler cache doc extensions gems plugins specifications !cache/bundler/git"},
	{"GEM_PATH", "", "bin build_info bundler cache doc extensions gems plugins specifications !cache/bundler/git"},
	{"VIRTUAL_ENV", "", "bin lib lib64 include share pyvenv.cfg"},
	{"PYTHONUSERBASE", ".local", "bin lib"},
	{"PIPX_HOME", ".local/pipx", "venvs shared py"},
	{"PNPM_HOME", ".local/share/pnpm", "."},
	{"NODE_PATH", "", "."},
	{"MAVEN_USER_HOME", ".m2", "repository wrapper"},
	{"MAVEN_HOME", "", "bin boot lib conf/logging"},
	{"M2_HOME", "", "bin boot lib conf/logging"},
	{"GRADLE_USER_HOME", ".gradle", "caches wrapper jdks native"},
	{"GRADLE_RO_DEP_CACHE", ".gradle/caches", "."},
	{"npm_config_cache", ".npm", "_cacache _npx"},
	{"SSL_CERT_FILE", "", "."},
	{"SSL_CERT_DIR", "", "."},
	{Dir: ".", Parts: "!.netrc !.git-credentials !.npmrc !.yarnrc !.yarnrc.yml !.pypirc !.pgpass !.my.cnf " +
		"!.vault-token !.ssh !.gnupg !.aws !.azure !.kube !.docker !.password-store !.terraform.d !.config !.mozilla " +
		"!.bash_history !.zsh_history !.local/share/keyrings"}, // also if a setting shows the home
	{Dir: ".bun", Parts: "bin install"},
	{Dir: ".bundle", Parts: "cache plugin !cache/git"},
	{Dir: ".cabal", Parts: "bin lib packages share store ?config"},
	{Dir: ".deno", Parts: "bin"},
	{Dir: ".gem", Parts: "ruby !ruby/*/cache/bundler/git"},
	{Dir: ".ghcup", Parts: "bin ghc cabal hls stack"},
	{Dir: ".ivy2", Parts: "cache local jars"},
	{Dir: ".julia", Parts: "artifacts compiled packages registries juliaup !registries/*/.git"},
	{Dir: ".juliaup", Parts: "bin"},
	{Dir: ".konan", Parts: "cache dependencies kotlin-native-*"},
	{Dir: ".mix", Parts: "archives elixir escripts"},
	{Dir: ".opam", Parts: "?config opam-init repo download-cache !repo/*/.git */.opam-switch !*/.opam-switch/sources " +
		"*/bin */sbin */lib */share */man */doc */etc"},
	{Dir: ".pnpm-store", Parts: "."},
	{Dir: ".rvm", Parts: "bin config environments gems lib rubies scripts wrappers"},
	{Dir: ".sbt", Parts: "boot launchers ?repositories"},
	{Dir: ".stack", Parts: "pantry programs snapshots stack.sqlite3 setup-exe-cache"},
	{Dir: ".swiftly", Parts: "bin toolchains config.json"},
	{Dir: ".yarn", Parts: "berry bin releases"},
	{Dir: ".local/share", Parts: "coursier fnm gem/ruby hatch/env mise/installs mise/shims NuGet/http-cache " +
		"pipx/venvs " +
		"pipx/shared pypoetry/venv rtx/installs uv/python uv/tools virtualenvs zig"},
	{Dir: ".cache", Parts: "bazel/_bazel_*/cache bazel/_bazel_*/install bazelisk ccache " +
		"composer/files composer/repo coursier/v1 " +
		"coursier/arc coursier/jvm Cypress deno/deps deno/npm deno/gen deno/remote deno/*_cache_v* electron go-build " +
		"golangci-lint hex huggingface/hub huggingface/datasets huggingface/modules " +
		"ms-playwright/*-[0-9]* ms-playwright/.links " +
		"node node-gyp pdm pip/http* pip/wheels pip/selfcheck pnpm pre-commit !pre-commit/*/.git prisma puppeteer " +
		"pypoetry/cache pypoetry/artifacts " +
		"pypoetry/virtualenvs rebar3 sccache torch/hub torch/kernels typescript uv/*-v[0-9]* uv/CACHEDIR.TAG yarn zig"},
}

// packages are the layouts of installed software: a marker tells one by a file, and parts are what programs in its bin
// read besides prefixParts.
var packages = []struct{ marker, parts string }{
	{"src/runtime/runtime.go", "."}, {"lib/jrt-fs.jar", "."}, {"jre/lib/rt.jar", "."},
	{"bin/internal/flutter.version", "."},
	{"pyvenv.cfg", "pyvenv.cfg"}, {"conda-meta", "conda-meta ssl"}, {"Cellar", "Cellar opt etc/ca-certificates"},
	{"lib/node_modules", ""}, {"lib/rustlib", ""}, {"lib/python3*", ""}, {"lib/ruby", ""}, {"lib/gcc", ""},
	{"lib/maven-core-*.jar", "boot conf/logging"}, {"lib/gradle-launcher-*.jar", ""},
}

// packageRoots are directory names below which a package begins, with how many names more its own path has.
var packageRoots = map[string]int{"node_modules": 0, "libexec": 0, "Cellar": 2, "versions": 1}

// Default is the directory below a home that a variable of a toolchain defaults to.
func Default(variable string) string {
	for _, p := range Toolchains {
		if p.Variable == variable {
			return p.Dir
		}
	}
	return ""
}
