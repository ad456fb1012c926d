import Testing
import Zoetrope

@Suite(.timeLimit(.minutes(10))) struct AccessPatternTests {
  private static let forward = Array(0..<30)
  private static let backward = Array(forward.reversed())
  private static let ahead: [Int] = forward.flatMap { [$0 + 2, $0] }
  private static let scrub: [Int] = (0..<10).flatMap { _ in Array(40..<50) + (41..<49).reversed() }
  private static let search: [Int] = (0..<60).map { ($0 * 37) % 101 }

  private static let cases: [(String, [Int], Bool)] = [
    ("forward", forward + forward, true),
    ("backward", backward + backward, true),
    ("every third frame", Array(stride(from: 0, to: 90, by: 3)), true),
    ("asked twice each", forward.flatMap { [$0, $0] }, true),
    ("decoded ahead of showing", ahead, true),
    ("too short to tell", Array(0..<10), false),
    ("scrubbing", scrub, false),
    ("seeking", search, false),
    ("a turn", forward + backward, true),
    ("a jump", forward + [70], false),
  ]

  @Test(arguments: cases)
  func `playback is distinguished from a search`(name: String, steps: [Int], isLoop: Bool) {
    var pattern = AccessPattern()
    for step in steps { pattern.step(to: step) }
    #expect(pattern.isLoop == isLoop, "\(name)")
  }
}
