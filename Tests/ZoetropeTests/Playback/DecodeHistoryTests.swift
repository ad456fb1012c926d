import Testing

@testable import Zoetrope

@Suite(.timeLimit(.minutes(1))) struct DecodeHistoryTests {
  /// Twenty frames in a row, each as quick as may be.
  private var quick: DecodeHistory {
    var history = DecodeHistory()
    for index in 0..<20 { history.note(index, DecodeHistory.lightTime) }
    return history
  }

  @Test func `the next frame of a quick row is quick, and so is the first of the next play`() {
    #expect(quick.isLight(20))
    #expect(quick.isLight(0))
  }

  @Test(arguments: [18, 19, 21, 5000]) func `a jump is not taken for quick`(index: Int) {
    #expect(!quick.isLight(index))
  }

  @Test func `a few quick frames prove nothing, and one slow frame little`() {
    var history = DecodeHistory()
    for index in 0..<15 { history.note(index, .zero) }
    #expect(!history.isLight(15))
    history = quick
    for index in 20..<40 { history.note(index, .zero) }
    history.note(40, .seconds(1))
    #expect(history.isLight(41))
    history.note(41, .seconds(1))
    #expect(!history.isLight(42))
  }
}
