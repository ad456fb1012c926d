import Testing
import ZoetropeCore

@Suite(.timeLimit(.minutes(10))) struct ControlGroupTests {
  @Test func `the memory controller of version 1 wins over an empty version 2`() throws {
    let mixed = "8:pids:/a\n4:memory:/b/c\n0::/d\n"
    let group = try #require(ControlGroup.group(of: "memory", in: mixed))
    #expect(group.path == "/b/c" && !group.isVersion2)
    let unified = try #require(
      ControlGroup.group(of: "memory", in: "0::/user.slice/x:y\n"))
    #expect(unified.path == "/user.slice/x:y" && unified.isVersion2)
    #expect(ControlGroup.group(of: "memory", in: "garbage\n\n1:name") == nil)
  }

  @Test func `groups above are read too, but not a path outside the namespace`() {
    #expect(ControlGroup.ancestors(of: "/a/b") == ["/a/b", "/a", ""])
    #expect(ControlGroup.ancestors(of: "/") == [""])
    #expect(ControlGroup.ancestors(of: "/../other") == [""])
  }

  @Test func `the lowest quota of a version 2 group and those above it counts, rounded up`() throws
  {
    try withMachine([
      "proc/self/cgroup": "0::/outer/inner\n",
      "sys/fs/cgroup/outer/cpu.max": "150000 100000\n",
      "sys/fs/cgroup/outer/inner/cpu.max": "max 100000\n",
    ]) { #expect(ControlGroup(of: "cpu", root: $0).processorQuota == 2) }
    try withMachine([
      "proc/self/cgroup": "0::/outer/inner\n",
      "sys/fs/cgroup/outer/cpu.max": "800000 100000\n",
      "sys/fs/cgroup/outer/inner/cpu.max": "300000 100000\n",
    ]) { #expect(ControlGroup(of: "cpu", root: $0).processorQuota == 3) }
  }

  @Test func `a version 1 group has its quota and its period in two files`() throws {
    try withMachine([
      "proc/self/cgroup": "5:cpu,cpuacct:/box\n4:memory:/other\n0::/\n",
      "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n",
      "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n",
      "sys/fs/cgroup/cpu/box/cpu.cfs_quota_us": "20000\n",
      "sys/fs/cgroup/cpu/box/cpu.cfs_period_us": "50000\n",
    ]) { #expect(ControlGroup(of: "cpu", root: $0).processorQuota == 1) }
  }

  @Test func `in a container the quota is at the mount`() throws {
    try withMachine([
      "proc/self/cgroup": "0::/outside/of/here\n", "sys/fs/cgroup/cpu.max": "200000 100000\n",
    ]) { #expect(ControlGroup(of: "cpu", root: $0).processorQuota == 2) }
  }

  @Test(arguments: ["", "max 100000", "-1 100000", "0 100000", "100000", "1 0", "x y", "1 2 3"])
  func `there may be no quota`(text: String) {
    #expect(ControlGroup.processorCount(text) == nil)
    #expect(ControlGroup(of: "cpu", root: "/nonexistent").processorQuota == nil)
  }
}
