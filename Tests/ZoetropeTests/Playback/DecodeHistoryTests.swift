import Testing

@testable import ZoetropeFrames

@Suite(.timeLimit(.minutes(10))) struct DecodeHistoryTests {
  private let small = DecodeHistory.Weight(area: 1000, bytes: 100)

  /// Twenty small frames in a row, each decoded as quickly as possible.
  private var quick: DecodeHistory {
    var history = DecodeHistory()
    for index in 0..<20 { history.note(index, small, DecodeHistory.lightTime) }
    return history
  }

  @Test func `the next frame of a quick row is quick, and so is the first of the next play`() {
    #expect(quick.isLight(20, small))
    #expect(quick.isLight(0, small))
  }

  @Test(arguments: [18, 19, 21, 5000]) func `a jump does not count as quick`(index: Int) {
    #expect(!quick.isLight(index, small))
  }

  @Test func `a few quick frames prove nothing, and one slow frame little`() {
    var history = DecodeHistory()
    for index in 0..<15 { history.note(index, small, .zero) }
    #expect(!history.isLight(15, small))
    history = quick
    for index in 20..<40 { history.note(index, small, .zero) }
    history.note(40, DecodeHistory.Weight(area: 2000, bytes: 200), .seconds(1))
    #expect(history.isLight(41, small))
    history.note(41, small, .seconds(1))
    #expect(!history.isLight(42, small))
  }

  @Test func `quick frames say nothing about a heavier one`() {
    #expect(!quick.isLight(0, DecodeHistory.Weight(area: 1001, bytes: 100)))
    #expect(!quick.isLight(0, DecodeHistory.Weight(area: 1000, bytes: 101)))
    var history = DecodeHistory()
    let whole = DecodeHistory.Weight(area: 1_000_000, bytes: 100_000)
    for _ in 0..<3 {
      #expect(!history.isLight(0, whole))
      history.note(0, whole, .milliseconds(9))
      for index in 1..<40 { history.note(index, small, .zero) }
    }
    #expect(history.isLight(40, small))
  }

  @Test func `a frame as heavy as a slow one does not count as quick until one was`() {
    var history = quick
    for index in 20..<40 { history.note(index, small, .zero) }
    history.note(40, small, .seconds(1))
    #expect(!history.isLight(41, small))
    history.note(41, small, .zero)
    #expect(history.isLight(42, small))
  }
}
