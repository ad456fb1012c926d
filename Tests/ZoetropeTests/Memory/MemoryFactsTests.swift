import Testing

@testable import ZoetropeFrames

@Suite(.timeLimit(.minutes(10))) struct MemoryFactsTests {
  @Test(
    arguments: [
      ("max\n", nil), ("1048576\n", 1 << 20), ("9223372036854771712", nil), ("", nil), ("-1", nil),
      ("12 34", nil), ("0", 0),
    ] as [(String, Int?)])
  func `limits are byte counts or none`(text: String, expected: Int?) {
    #expect(MemoryFacts.byteCount(text) == expected)
  }

  @Test func `stall averages are read and nonsense is not`() throws {
    let text = """
      some avg10=12.50 avg60=1.00 avg300=0.10 total=123
      full avg10=3.25 avg60=0.50 avg300=0.00 total=45
      """
    let stall = try #require(MemoryFacts.stall(text))
    #expect(stall.some == 12.5 && stall.full == 3.25)
    #expect(MemoryFacts.stall("some avg10=nan\n") == nil)
    #expect(MemoryFacts.stall("") == nil)
  }

  @Test func `event counters are read by name`() {
    let events = MemoryFacts.events("low 0\nhigh 17\nmax 3\noom x\n")
    #expect(events == ["low": 0, "high": 17, "max": 3])
  }

  @Test func `the default budget is a quarter between two bounds`() {
    #expect(MemoryBudget.defaultByteLimit(of: 1 << 30) == 256 << 20)
    #expect(MemoryBudget.defaultByteLimit(of: 1 << 40) == 512 << 20)
    #expect(MemoryBudget.defaultByteLimit(of: 8 << 20) == 16 << 20)
    #expect(
      MemoryBudget.defaultByteLimit == MemoryBudget.defaultByteLimit(of: MachineMemory().byteLimit))
  }

  @Test func `a machine that reports nothing has its physical memory and no pressure`() {
    let memory = MachineMemory(root: "/nonexistent")
    #expect(memory.byteLimit > 0)
    #expect(memory.read() == MemoryReading())
  }
}
