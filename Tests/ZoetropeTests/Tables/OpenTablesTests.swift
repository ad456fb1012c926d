import Testing
import Zoetrope

@testable import ZoetropeFrames
@testable import ZoetropeStore

@Suite(.timeLimit(.minutes(10))) struct OpenTablesTests {
  private static func shape(_ width: Int) -> TableShape {
    TableShape(size: PixelSize(width: width, height: 1), format: .rgba8)
  }

  @Test func `failures are remembered for a second, and then forgotten`() {
    var tables = OpenTables()
    let error = AnimatedImageError(.io, "made to fail")
    for number in 1...1000 {
      tables.note(error, Self.shape(number), at: Int64(number) * 100_000_000)
      #expect(tables.failureCount == min(number, 10))
    }
    #expect(throws: error) { try tables.checkFailure(Self.shape(1000), at: 100_900_000_000) }
    #expect(throws: Never.self) {
      try tables.checkFailure(Self.shape(1000), at: 101_000_000_000)
      // The clock was set back.
      try tables.checkFailure(Self.shape(1000), at: 99_000_000_000)
    }
  }
}
