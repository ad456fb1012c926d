import ZoetropeTestSupport

/// Random controls of playbacks, on the state machine alone and on whole players: time never goes back.
enum Controls {
  /// Does `count` operations on state machines and a twentieth of that on players; gives the exit status.
  static func run(operations count: Int, seed: Int) async -> Int32 {
    let length = 200
    var violations = 0
    let sequences = (count + length - 1) / length
    for number in 0..<sequences {
      for violation in MachineSequence.violations(seed: Self.seed(seed, number), operations: length)
      {
        violations += 1
        if violations <= 20 { print("state machine:", violation) }
      }
    }
    print("state machine: \(sequences) sequences of \(length) operations, seed \(seed)")
    for number in 0..<sequences / 20 {
      for violation in await PlayerSequence.violations(
        seed: Self.seed(seed, number), operations: length)
      {
        violations += 1
        if violations <= 20 { print("player:", violation) }
      }
    }
    print("players: \(sequences / 20) sequences of at most \(length) operations")
    print(violations == 0 ? "ok" : "\(violations) violations: FAILED")
    return violations == 0 ? 0 : 1
  }

  private static func seed(_ seed: Int, _ number: Int) -> UInt64 {
    UInt64(truncatingIfNeeded: seed) << 32 | UInt64(number)
  }
}
