import Foundation
import Testing
import Zoetrope

/// What a machine says about memory, from files laid out as the kernel lays them out.
@Suite(.timeLimit(.minutes(10))) struct MachineMemoryTests {
  @Test func `the tightest limit of a version 2 group and those above it counts`() throws {
    try withMachine([
      "proc/self/cgroup": "0::/outer/inner\n",
      "sys/fs/cgroup/outer/memory.max": "67108864\n",
      "sys/fs/cgroup/outer/inner/memory.max": "max\n",
      "sys/fs/cgroup/outer/inner/memory.high": "134217728\n",
    ]) { memory in
      #expect(memory.byteLimit == 64 << 20)
    }
  }

  @Test func `pressure of a version 2 group is its own, with its events`() throws {
    try withMachine([
      "proc/self/cgroup": "0::/app\n",
      "proc/pressure/memory": "some avg10=90.00\nfull avg10=80.00\n",
      "sys/fs/cgroup/app/memory.pressure": "some avg10=12.50 total=1\nfull avg10=2.25 total=1\n",
      "sys/fs/cgroup/app/memory.events": "low 0\nhigh 17\nmax 3\noom 1\n",
      "sys/fs/cgroup/app/memory.current": "50000000\n",
      "sys/fs/cgroup/app/memory.stat": "anon 1\ninactive_file 10000000\n",
      "sys/fs/cgroup/app/memory.max": "67108864\n",
    ]) { memory in
      let reading = memory.read()
      #expect(reading.someStall == 12.5 && reading.fullStall == 2.25)
      #expect(reading.highEvents == 17 && reading.maxEvents == 4)
      #expect(reading.usage == 40_000_000)
      #expect(reading.limit == 64 << 20)
    }
  }

  @Test func `a version 1 group has a limit and failures, and the machine's stall`() throws {
    try withMachine([
      "proc/self/cgroup": "5:cpu:/\n4:memory:/box\n",
      "proc/pressure/memory": "some avg10=1.00\nfull avg10=0.50\n",
      "sys/fs/cgroup/memory/box/memory.limit_in_bytes": "33554432\n",
      "sys/fs/cgroup/memory/box/memory.usage_in_bytes": "30000000\n",
      "sys/fs/cgroup/memory/box/memory.failcnt": "9\n",
      "sys/fs/cgroup/memory/box/memory.stat": "cache 1\ntotal_inactive_file 5000000\n",
    ]) { memory in
      #expect(memory.byteLimit == 32 << 20)
      let reading = memory.read()
      #expect(reading.someStall == 1 && reading.fullStall == 0.5)
      #expect(reading.maxEvents == 9 && reading.highEvents == nil)
      #expect(reading.usage == 25_000_000)
    }
  }

  @Test func `in a container the outer group is absent, and its own is the mount`()
    throws
  {
    try withMachine([
      "proc/self/cgroup": "0::/outside/of/here\n", "sys/fs/cgroup/memory.max": "50331648\n",
      "sys/fs/cgroup/memory.current": "30000000\n",
      "sys/fs/cgroup/memory.events": "high 0\nmax 2\noom 0\n",
      "sys/fs/cgroup/memory.pressure": "some avg10=7.00\nfull avg10=0.00\n",
    ]) { memory in
      #expect(memory.byteLimit == 48 << 20)
      let reading = memory.read()
      #expect(reading.limit == 48 << 20 && reading.usage == 30_000_000)
      #expect(reading.maxEvents == 2 && reading.someStall == 7)
    }
  }

  @Test func `the least room of a group and those above it counts`() throws {
    try withMachine([
      "proc/self/cgroup": "4:memory:/pod/inner\n",
      "sys/fs/cgroup/memory/pod/memory.limit_in_bytes": "100000000\n",
      "sys/fs/cgroup/memory/pod/memory.usage_in_bytes": "90000000\n",
      "sys/fs/cgroup/memory/pod/memory.stat":
        "total_inactive_file 2000000\ntotal_active_file 3000000\n",
      "sys/fs/cgroup/memory/pod/inner/memory.limit_in_bytes": "50000000\n",
      "sys/fs/cgroup/memory/pod/inner/memory.usage_in_bytes": "10000000\n",
      "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
      "sys/fs/cgroup/memory/memory.usage_in_bytes": "2000000000\n",
    ]) { memory in
      let reading = memory.read()
      #expect(reading.limit == 100_000_000 && reading.usage == 88_000_000)
      #expect(reading.filePages == 3_000_000)
      // An eighth stays free, and file pages count as free.
      #expect(reading.room == 100_000_000 - 12_500_000 - 85_000_000)
    }
  }

  private func withMachine(
    _ files: [String: String], _ body: (MachineMemory) throws -> Void
  ) throws {
    try ZoetropeTests.withMachine(files) { try body(MachineMemory(root: $0)) }
  }
}

/// Runs `body` with the root of a machine that consists of `files`.
func withMachine(_ files: [String: String], _ body: (String) throws -> Void) throws {
  let root = FileManager.default.temporaryDirectory.appending(path: "machine-\(UUID())")
  defer { try? FileManager.default.removeItem(at: root) }
  for (path, text) in files {
    let file = root.appending(path: path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: false, encoding: .utf8)
  }
  try body(root.path)
}
