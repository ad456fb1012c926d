internal import Synchronization

/// A limit on the total number of bytes that the caches and checkpoints of all images and players hold.
///
/// One budget serves the whole process, because separate limits for each view or player would add up. Bytes are charged
/// before anything is evicted. The total may therefore exceed the limit by the frames that are being stored and by the
/// minimum that each playing animation keeps.
public final class MemoryBudget: Sendable {
  /// The shared budget. Its limit is ``defaultByteLimit`` unless you change it.
  ///
  /// The shared budget monitors system memory while anything is charged to it; see ``watchesPressure``.
  public static let shared = MemoryBudget(watch: PressureWatch(), boundsPixelMemory: true)

  /// The purpose for which charged bytes are used.
  package enum Kind: Int, Sendable, CaseIterable { case frames, checkpoints, images }

  private let limit: Atomic<Int>
  /// The ``MemoryPressure/shift`` of the pressure that the caller has set. `foundShift` is the shift of the measured
  /// pressure.
  private let shift = Atomic<Int>(0)
  private let foundShift = Atomic<Int>(0)
  /// The maximum number of bytes that may be held, given the room in the control group.
  private let ceiling = Atomic<Int>(.max)
  private let usedForFrames = Atomic<Int>(0)
  private let usedForCheckpoints = Atomic<Int>(0)
  private let usedForImages = Atomic<Int>(0)
  /// The total number of bytes that have ever been charged. It serves as the clock for the last uses of members.
  private let time = Atomic<UInt64>(1)
  /// The members that hold bytes, by the raw value of their kind.
  private let members = Mutex(Kind.allCases.map { _ in BudgetRing() })
  /// The number of calls of ``evict()`` that have not been answered yet. The first call evicts for all of them, because
  /// two threads that evict at the same time would each free the whole excess.
  private let evictions = Atomic<Int>(0)
  private let watch: PressureWatch
  /// Whether this budget also limits the memory that players reserve for their next frames. That limit is a quarter of
  /// the budget's own limit. The reserved memory is not charged to the budget.
  private let boundsPixelMemory: Bool

  /// Creates a budget of `byteLimit` bytes. Default: ``defaultByteLimit``.
  ///
  /// The budget does not monitor system memory unless ``watchesPressure`` is set.
  public convenience init(byteLimit: Int = MemoryBudget.defaultByteLimit) {
    self.init(byteLimit: byteLimit, watch: PressureWatch(isEnabled: false))
  }

  package init(
    byteLimit: Int = MemoryBudget.defaultByteLimit, watch: PressureWatch,
    boundsPixelMemory: Bool = false
  ) {
    limit = Atomic(max(byteLimit, 0))
    self.watch = watch
    self.boundsPixelMemory = boundsPixelMemory
  }

  /// Whether to monitor system memory and hold fewer bytes while memory is short. Memory is checked once per second
  /// while at least 1 MiB is held. Default: true for ``shared``, false for other budgets.
  ///
  /// In a control group with a limit, a monitoring budget also leaves an eighth of that limit free (at most 64 MiB),
  /// whatever ``byteLimit`` is. This is necessary because the system kills the process as soon as the group is full,
  /// and no slowdown gives a warning first. In such a group, memory is checked ten times per second while the group has
  /// less room than ``byteLimit``, and whenever a quarter of the room has been filled.
  ///
  /// Monitoring uses no thread. A task on the cooperative pool reads a few small files (in about 50 µs) and ends when
  /// nothing is held. Kernel notifications would need a waiting thread, and privileges that most containers lack.
  public var watchesPressure: Bool {
    get { watch.isEnabled }
    set {
      watch.isEnabled = newValue
      if newValue { settle() } else { forgetFindings() }
    }
  }

  /// Whether system memory is being monitored.
  package var isWatching: Bool { watch.isRunning }

  /// The maximum number of bytes that may be held when memory is not short. Lowering this limit evicts immediately.
  public var byteLimit: Int {
    get { limit.load(ordering: .relaxed) }
    set {
      limit.store(max(newValue, 0), ordering: .relaxed)
      settle()
    }
  }

  /// The maximum number of bytes that may be held now: ``byteLimit``, reduced because of ``pressure`` and because of a
  /// lack of room in the control group (see ``watchesPressure``).
  package var effectiveLimit: Int { min(pressedLimit, ceiling.load(ordering: .relaxed)) }

  private var pressedLimit: Int { byteLimit >> pressure.shift }

  /// Returns whether the control group has less room than the budget could use. `before` is the previous result. If it
  /// was true, the result becomes false again only when the room exceeds what the budget could use by at least a
  /// quarter, so that the result does not keep changing.
  package func lacksRoom(since before: Bool) -> Bool {
    let limit = pressedLimit
    let ceiling = ceiling.load(ordering: .relaxed)
    // Both numbers are 0 or more, so the difference cannot overflow.
    return ceiling < .max && ceiling - (before ? limit / 4 : 0) < limit
  }

  /// Takes a reading with `read`, records the room in the control group, and returns the reading. Nothing is evicted.
  ///
  /// The number of held bytes may change while `read` runs. This method uses the lower of the numbers before and after
  /// the call of `read`, so that the ceiling is never set too high.
  package func fit(_ read: () -> MemoryReading) -> MemoryReading {
    let before = byteCount
    let reading = read()
    let used = min(before, byteCount)
    ceiling.store(reading.room.map { max(used + $0, 0) } ?? .max, ordering: .relaxed)
    return reading
  }

  /// Records the measured pressure. If the pressure has risen, the next ``settle()`` evicts.
  package func find(_ pressure: MemoryPressure) {
    foundShift.store(pressure.shift, ordering: .relaxed)
  }

  /// Resets the measured room and pressure. Called when monitoring ends.
  package func forgetFindings() {
    ceiling.store(.max, ordering: .relaxed)
    find(.none)
  }

  /// The number of bytes held now.
  public var byteCount: Int { used(for: .frames) + used(for: .checkpoints) + used(for: .images) }

  /// The memory pressure: the level set by the caller or the measured level (see ``watchesPressure``), whichever is
  /// higher. Setting a higher level evicts immediately.
  package var pressure: MemoryPressure {
    get {
      MemoryPressure(
        shift: max(shift.load(ordering: .relaxed), foundShift.load(ordering: .relaxed)))
    }
    set {
      shift.store(newValue.shift, ordering: .relaxed)
      settle()
    }
  }

  /// Returns the number of listed members of one kind, including deallocated members that are still listed.
  package func listedCount(for kind: Kind) -> Int { members.withLock { $0[kind.rawValue].count } }

  /// Returns the number of bytes held for one purpose.
  package func used(for kind: Kind) -> Int { counter(kind) { $0.load(ordering: .relaxed) } }

  /// Returns the number of bytes that may be held for one purpose.
  ///
  /// Compressed images may take a quarter of the limit. Checkpoints may take the part that is otherwise unused, and
  /// keep up to half of the limit while they are in use. Checkpoints have this precedence over frames because a cached
  /// frame saves only the replay to that frame, whereas a checkpoint saves part of the replay to every frame after it.
  package func limit(for kind: Kind) -> Int {
    switch kind {
    case .frames: effectiveLimit
    case .checkpoints:
      max(share(of: kind), effectiveLimit - used(for: .frames) - used(for: .images))
    case .images: share(of: kind)
    }
  }

  /// Returns the number of bytes that one purpose keeps when other purposes compete for them.
  private func share(of kind: Kind) -> Int {
    switch kind {
    case .frames: 0
    case .checkpoints: effectiveLimit / 2
    case .images: effectiveLimit / 4
    }
  }

  /// Adds `byteCount`, which may be negative, to the charge of `member`. The member's ``BudgetMember/shed(_:)`` may be
  /// called later. Nothing is evicted: call ``settle()`` when no lock is held.
  package func charge(_ byteCount: Int, to member: some BudgetMember) {
    let share = member.share
    let held = add(byteCount, to: share)
    if held > 0, share.list(true) { members.withLock { $0[share.kind.rawValue].append(member) } }
  }

  /// Refunds `byteCount` bytes of the member with the record `share`. The member may be deinitializing.
  package func refund(_ byteCount: Int, of share: BudgetShare) { _ = add(-byteCount, to: share) }

  /// Refunds everything that is charged to the member with the record `share`.
  package func refundAll(of share: BudgetShare) { refund(share.heldBytes, of: share) }

  private func add(_ byteCount: Int, to share: BudgetShare) -> Int {
    charge(byteCount, as: share.kind)
    return share.add(byteCount)
  }

  package func charge(_ byteCount: Int, as kind: Kind) {
    _ = counter(kind) { $0.add(byteCount, ordering: .relaxed) }
    if byteCount > 0 { time.add(UInt64(byteCount), ordering: .relaxed) }
  }

  private func counter<Value>(_ kind: Kind, _ body: (borrowing Atomic<Int>) -> Value) -> Value {
    switch kind {
    case .frames: body(usedForFrames)
    case .checkpoints: body(usedForCheckpoints)
    case .images: body(usedForImages)
    }
  }

  /// Records a use of the member with the record `share`.
  package func stamp(_ share: BudgetShare) { share.stamp(time.load(ordering: .relaxed)) }

  /// Evicts until the limits are met or the members can release no more memory. Call this method with no lock held.
  ///
  /// The cost of a call does not depend on the number of members.
  package func settle() {
    watch.start(for: self)
    evict()
    defer { if boundsPixelMemory { PixelMemory.limitCanvasBytes(to: effectiveLimit / 4) } }
    // The room is read after evicting, because only what remains takes up room.
    if watch.lookIfDue(for: self) { evict() }
  }

  /// Releases everything that can be released: cached frames, checkpoints and opened images. The frames that players
  /// hold and the last two cached frames of each playing animation are kept.
  public func removeAll() {
    for kind in [Kind.checkpoints, .frames, .images] { removeAll(of: kind) }
    if boundsPixelMemory { PixelMemory.freeWaiting() }
  }

  /// Releases everything of one kind that can be released.
  package func removeAll(of kind: Kind) { _ = relieve(.max, of: kind) }

  private var exceedsLimits: Bool {
    byteCount > effectiveLimit || used(for: .checkpoints) > limit(for: .checkpoints)
      || used(for: .images) > limit(for: .images)
  }

  /// Evicts what exceeds the limits. If another thread is already evicting, this method returns without waiting, and
  /// the other thread checks the limits again when it has finished. This is necessary because a hold that ends in the
  /// meantime may make more memory releasable.
  private func evict() {
    guard exceedsLimits else { return }
    guard evictions.add(1, ordering: .acquiringAndReleasing).oldValue == 0 else { return }
    var unanswered = 1
    while unanswered > 0 {
      evictExcess()
      unanswered = evictions.subtract(unanswered, ordering: .acquiringAndReleasing).newValue
    }
  }

  private func evictExcess() {
    for kind in [Kind.checkpoints, .images] {
      while used(for: kind) > limit(for: kind) {
        guard relieve(used(for: kind) - limit(for: kind), of: kind) else { break }
      }
    }
    while byteCount > effectiveLimit {
      let over = byteCount - effectiveLimit
      let surplus = min(over, used(for: .checkpoints) - share(of: .checkpoints))
      guard
        (surplus > 0 && relieve(surplus, of: .checkpoints))
          || relieve(over, of: .checkpoints, onlyStale: true) || relieve(over, of: .frames)
          || relieve(over, of: .checkpoints) || relieve(over, of: .images)
      else { break }
    }
  }

  /// Makes members of one kind release memory, the least recently used member first, until `byteCount` bytes have been
  /// freed. Returns whether anything was freed.
  ///
  /// - Parameter onlyStale: Whether to spare members that have been used recently, which means that at most half of the
  ///   limit has been charged since their last use. With this option, checkpoints of animations that are no longer
  ///   watched are dropped before frames that are being shown. Default: false.
  private func relieve(_ byteCount: Int, of kind: Kind, onlyStale: Bool = false) -> Bool {
    guard used(for: kind) > 0 else { return false }
    var freed = 0
    // This number bounds the loop: each member fails to release memory at most once.
    var attempts = members.withLock { $0[kind.rawValue].count }
    while freed < byteCount, attempts > 0,
      let member = members.withLock({ $0[kind.rawValue].oldest() })
    {
      if onlyStale, !isStale(member.share) { break }
      let count = member.shed(byteCount - freed)
      freed += count
      if member.share.heldBytes > 0, count > 0 { continue }
      attempts -= 1
      members.withLock { members in
        guard members[kind.rawValue].removeFirst(member.share) else { return }
        if member.share.heldBytes == 0, member.share.list(false) {
          // A concurrent charge may have seen that the member was still listed, and so may not have listed it again.
          guard member.share.heldBytes > 0, member.share.list(true) else { return }
        }
        members[kind.rawValue].append(member)
      }
    }
    return freed > 0
  }

  private func isStale(_ share: BudgetShare) -> Bool {
    let time = time.load(ordering: .relaxed)
    return time > share.lastUse && time - share.lastUse > effectiveLimit / 2
  }
}
