import TestRunning
import Testing
import Zoetrope
import ZoetropeTestSupport

/// Invariants of playback, over random sequences of controls.
///
/// A violation names its seed, which repeats it. `make controls` runs millions of operations.
@Suite(.timeLimit(.minutes(10)), .computes) struct PlaybackPropertyTests {
  @Test(arguments: 0..<8)
  func `time never goes back, whatever is asked of the state machine`(part: UInt64) {
    for seed in part * 200..<(part + 1) * 200 {
      #expect(MachineSequence.violations(seed: seed, operations: 60).isEmpty)
    }
  }

  @Test(arguments: 0..<4)
  func `time never goes back, whatever is asked of a player`(part: UInt64) async {
    for seed in part * 60..<(part + 1) * 60 {
      #expect(await PlayerSequence.violations(seed: seed, operations: 60).isEmpty)
    }
  }
}
