import Testing
import Zoetrope
import ZoetropeTestSupport

@Suite(.timeLimit(.minutes(10))) struct CheckpointPolicyTests {
  /// A policy over frames of these costs, all measured.
  private func makePolicy(_ costs: [Int], independent: [Int] = [0]) -> CheckpointPolicy {
    var replay = ReplayCosts(estimates: costs)
    for (index, cost) in costs.enumerated() { replay.record(cost, of: index) }
    return CheckpointPolicy(costs: replay, independent: independent)
  }

  /// Offers every frame in order, as one play does.
  private func play(_ policy: inout CheckpointPolicy, capacity: Int) {
    for index in 0..<policy.count where policy.accepts(index, capacity: capacity) {
      while policy.kept.count >= capacity { _ = policy.dropLeast() }
      policy.keep(index)
    }
  }

  @Test func `costs of any size add up without overflow`() {
    var costs = ReplayCosts(estimates: Array(repeating: .max, count: 1000))
    costs.record(1, of: 0)
    costs.record(.max, of: 1)
    #expect(costs.sum(0..<1000) > 0)
    var policy = CheckpointPolicy(costs: costs, independent: [0])
    for index in stride(from: 100, to: 1000, by: 100) where policy.accepts(index, capacity: 3) {
      if policy.kept.count == 3 { _ = policy.dropLeast() }
      policy.keep(index)
    }
    #expect(!policy.kept.isEmpty && policy.kept.count <= 3)
  }

  @Test func `frames of equal cost get checkpoints at equal distances`() {
    var policy = makePolicy(Array(repeating: 10, count: 100))
    play(&policy, capacity: 9)
    #expect(policy.kept == Array(stride(from: 10, to: 100, by: 10)))
    #expect(policy.longestReplay == 10)
  }

  @Test(arguments: [1, 3, 10, 40]) func `a replay is bounded by the room there is`(capacity: Int) {
    var policy = makePolicy(Array(repeating: 7, count: 1000))
    play(&policy, capacity: capacity)
    #expect(policy.kept.count <= capacity)
    #expect(policy.longestReplay <= 1000 / (capacity + 1) * 2)
  }

  @Test func `expensive frames get more checkpoints than cheap ones`() {
    let costs = (0..<100).map { $0 < 50 ? 1 : 99 }
    var policy = makePolicy(costs)
    play(&policy, capacity: 10)
    #expect(policy.kept.filter { $0 >= 50 }.count >= 9)
  }

  @Test func `independent frames start replays for nothing and are never kept`() {
    var all = makePolicy(Array(repeating: 10, count: 50), independent: Array(0..<50))
    play(&all, capacity: 20)
    #expect(all.kept == [])
    #expect(all.longestReplay == 1)
    var half = makePolicy(Array(repeating: 10, count: 100), independent: [0, 50])
    #expect(half.start(upTo: 49) == 0 && half.start(upTo: 50) == 50 && half.start(upTo: 99) == 50)
    play(&half, capacity: 9)
    #expect(!half.kept.contains(50))
    #expect(half.longestReplay <= 12)
  }

  @Test func `the checkpoint that spares least goes first`() {
    var policy = makePolicy(Array(repeating: 10, count: 100))
    for index in [30, 33, 70] { policy.keep(index) }
    // Without 30, three frames start 30 frames further back; without 33, 37 frames start 3 back.
    #expect(policy.dropLeast() == 30)
    #expect(policy.kept == [33, 70])
  }

  @Test func `two of equal worth do not push each other out for ever`() {
    var policy = makePolicy(Array(repeating: 10, count: 30))
    play(&policy, capacity: 2)
    let kept = policy.kept
    for _ in 0..<5 { play(&policy, capacity: 2) }
    #expect(policy.kept == kept)
  }

  @Test func `no room keeps nothing`() {
    var policy = makePolicy([1, 1, 1])
    play(&policy, capacity: 0)
    #expect(policy.kept == [])
  }

  @Test func `estimates are put on the scale of what was measured`() {
    var costs = ReplayCosts(estimates: [100, 100, 200])
    #expect(costs.sum(0..<3) == 400)
    costs.record(50, of: 0)
    #expect(costs.sum(0..<3) == 200)
    costs.record(150, of: 0)
    #expect(costs.sum(0..<1) == 100)
  }

  @Test func `sums agree with adding up`() {
    var random = SplitMix64(seed: 3)
    var values = (0..<77).map { _ in Int.random(in: 1...1000, using: &random) }
    var costs = ReplayCosts(estimates: values)
    for index in values.indices {
      costs.record(values[index], of: index)
      if index % 3 == 0 {
        costs.record(500, of: index)
        values[index] = (values[index] + 500) / 2
      }
    }
    for _ in 0..<100 {
      let low = Int.random(in: 0...77, using: &random)
      let high = Int.random(in: low...77, using: &random)
      #expect(costs.sum(low..<high) == values[low..<high].reduce(0, +))
    }
  }
}
