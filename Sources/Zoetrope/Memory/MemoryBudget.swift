internal import Synchronization

/// One limit on the bytes that caches and checkpoints of all images and players hold together.
///
/// Limits for each view or player overshoot as soon as there are many of them, so there is one for
/// the process. Bytes are charged before anything is evicted, hence the total may pass the limit by
/// what is being stored at that moment, and by the floors of animations that are being played.
public final class MemoryBudget: Sendable {
  /// The budget of this process: ``defaultByteLimit`` bytes unless set otherwise.
  ///
  /// Watches the machine's memory by itself while it holds something; see ``watchesPressure``.
  public static let shared = MemoryBudget(watch: PressureWatch())

  /// What the bytes are held for.
  package enum Kind: Sendable { case frames, checkpoints, images }

  private let limit: Atomic<Int>
  /// The shift of the pressure that the caller has set, and of the one that was found by looking.
  private let shift = Atomic<Int>(0)
  private let foundShift = Atomic<Int>(0)
  /// Bytes that may be held as far as the control group has room.
  private let ceiling = Atomic<Int>(.max)
  private let usedForFrames = Atomic<Int>(0)
  private let usedForCheckpoints = Atomic<Int>(0)
  private let usedForImages = Atomic<Int>(0)
  /// Bytes ever charged: what members tell their last use by.
  private let time = Atomic<UInt64>(1)
  private let members = Mutex(Members())
  private let watch: PressureWatch

  private struct Members: Sendable {
    var frames = BudgetRing()
    var checkpoints = BudgetRing()
    var images = BudgetRing()

    subscript(kind: Kind) -> BudgetRing {
      get {
        switch kind {
        case .frames: frames
        case .checkpoints: checkpoints
        case .images: images
        }
      }
      _modify {
        switch kind {
        case .frames: yield &frames
        case .checkpoints: yield &checkpoints
        case .images: yield &images
        }
      }
    }
  }

  /// A budget of `byteLimit` bytes; by default ``defaultByteLimit``.
  ///
  /// It does not watch the machine's memory unless told to; see ``watchesPressure``.
  public convenience init(byteLimit: Int = MemoryBudget.defaultByteLimit) {
    self.init(byteLimit: byteLimit, watch: PressureWatch(isEnabled: false))
  }

  package init(byteLimit: Int = MemoryBudget.defaultByteLimit, watch: PressureWatch) {
    limit = Atomic(max(byteLimit, 0))
    self.watch = watch
  }

  /// Whether the machine's memory is looked at once a second while a MiB or more is held, and
  /// ``pressure`` set by it. Default: true for ``shared``, false for others.
  ///
  /// In a control group with a limit, ``effectiveLimit`` then also leaves an eighth of that limit free
  /// (64 MiB at most), whatever ``byteLimit`` says: a group that is full has its process killed at
  /// once, with nothing to wait for or to stall on. So it is looked at ten times a second while there
  /// is less room than ``byteLimit`` asks for, and whenever a quarter of the room was filled.
  ///
  /// No thread is kept for it: a task sleeps on the cooperative pool, reads a few small files (some
  /// 50 µs), and ends when nothing is held. (The kernel can wake a waiter instead, at the price of
  /// a thread that waits, and of rights that containers mostly do not give.)
  public var watchesPressure: Bool {
    get { watch.isEnabled }
    set {
      watch.isEnabled = newValue
      if newValue { settle() } else { forgetFindings() }
    }
  }

  /// Whether the machine's memory is being looked at.
  package var isWatching: Bool { watch.isRunning }

  /// Bytes that may be held when memory is not short. Lowering it evicts at once.
  public var byteLimit: Int {
    get { limit.load(ordering: .relaxed) }
    set {
      limit.store(max(newValue, 0), ordering: .relaxed)
      settle()
    }
  }

  /// Bytes that may be held now: ``byteLimit``, or a part of it under ``pressure``, or less where the
  /// control group has no room for it (see ``watchesPressure``).
  public var effectiveLimit: Int { min(pressedLimit, ceiling.load(ordering: .relaxed)) }

  private var pressedLimit: Int { byteLimit >> pressure.shift }

  /// Whether the control group has less room than the budget could use. Once it has, there has to be
  /// a quarter more for it to be over, so that a report of it does not come and go.
  package func lacksRoom(since before: Bool) -> Bool {
    let limit = pressedLimit
    return ceiling.load(ordering: .relaxed) < (before ? limit + limit / 4 : limit)
  }

  /// Reads how much room the control group has and takes note of it. Evicts nothing by itself.
  ///
  /// What is held may change while `read` runs, and before its result arrives: the lesser of what was
  /// held before and after counts, or the end of the room would be put too far out.
  package func fit(_ read: () -> MemoryReading) -> MemoryReading {
    let before = usedBytes
    let reading = read()
    let used = min(before, usedBytes)
    ceiling.store(reading.room.map { max(used + $0, 0) } ?? .max, ordering: .relaxed)
    return reading
  }

  /// Takes note of the pressure that was found by looking; a rise evicts at the next ``settle()``.
  package func find(_ pressure: MemoryPressure) {
    foundShift.store(pressure.shift, ordering: .relaxed)
  }

  /// Forgets the room and the pressure that were found: nobody looks any more.
  package func forgetFindings() {
    ceiling.store(.max, ordering: .relaxed)
    find(.none)
  }

  /// Bytes held now.
  public var usedBytes: Int { used(for: .frames) + used(for: .checkpoints) + used(for: .images) }

  /// How short memory is: the greater of what was set here and what watching finds (see ``watchesPressure``).
  /// A rise evicts at once.
  public var pressure: MemoryPressure {
    get {
      MemoryPressure(
        shift: max(shift.load(ordering: .relaxed), foundShift.load(ordering: .relaxed)))
    }
    set {
      shift.store(newValue.shift, ordering: .relaxed)
      settle()
    }
  }

  /// Entries kept for members of one kind, including members that are gone and not yet removed.
  package func listedCount(for kind: Kind) -> Int { members.withLock { $0[kind].count } }

  /// Bytes held for one purpose.
  package func used(for kind: Kind) -> Int { counter(kind) { $0.load(ordering: .relaxed) } }

  /// Bytes that may be held for one purpose.
  ///
  /// Compressed images may take a quarter: they save work for somebody who comes back. Checkpoints may
  /// take what nobody else uses, and half as long as they are used: a cached frame spares the replay to
  /// that frame only, a checkpoint the one to all frames after it.
  package func limit(for kind: Kind) -> Int {
    switch kind {
    case .frames: effectiveLimit
    case .checkpoints:
      max(share(of: kind), effectiveLimit - used(for: .frames) - used(for: .images))
    case .images: share(of: kind)
    }
  }

  /// Bytes that one purpose keeps when others want them too.
  private func share(of kind: Kind) -> Int {
    switch kind {
    case .frames: 0
    case .checkpoints: effectiveLimit / 2
    case .images: effectiveLimit / 4
    }
  }

  /// Charges `byteCount` bytes more, or less, to `member`, which is asked to give them back when others
  /// need them. Evicts nothing by itself: call ``settle()`` when no lock is held.
  package func charge(_ byteCount: Int, to member: some BudgetMember) {
    let share = member.share
    let held = add(byteCount, to: share)
    if held > 0, share.list(true) { members.withLock { $0[share.kind].append(member) } }
  }

  /// Gives back `byteCount` bytes of a member, which may be on its way out.
  package func refund(_ byteCount: Int, of share: BudgetShare) { _ = add(-byteCount, to: share) }

  /// Gives back all that a member holds.
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

  /// Notes that the member with `share` is used now.
  package func stamp(_ share: BudgetShare) { share.stamp(time.load(ordering: .relaxed)) }

  /// Evicts until the limits hold or only floors are left. Call it with no lock held.
  ///
  /// Takes no longer with many members than with few.
  package func settle() {
    watch.start(for: self)
    evict()
    // Only what stays fills the room, so what was evicted is not looked at.
    if watch.lookIfDue(for: self) { evict() }
  }

  /// Has everything given up that is charged and can be: cached frames, canvases kept for seeking,
  /// opened images. What players hold at the moment stays, and the two last frames of each in a cache.
  public func removeAll() {
    for kind in [Kind.checkpoints, .frames, .images] { removeAll(of: kind) }
  }

  /// As ``removeAll()``, of one kind.
  package func removeAll(of kind: Kind) { _ = relieve(.max, of: kind) }

  private func evict() {
    for kind in [Kind.checkpoints, .images] {
      while used(for: kind) > limit(for: kind) {
        guard relieve(used(for: kind) - limit(for: kind), of: kind) else { break }
      }
    }
    while usedBytes > effectiveLimit {
      let over = usedBytes - effectiveLimit
      let surplus = min(over, used(for: .checkpoints) - share(of: .checkpoints))
      guard
        (surplus > 0 && relieve(surplus, of: .checkpoints))
          || relieve(over, of: .checkpoints, onlyStale: true) || relieve(over, of: .frames)
          || relieve(over, of: .checkpoints) || relieve(over, of: .images)
      else { break }
    }
  }

  /// Asks the members of one kind, the one used longest ago first; whether anything was freed.
  ///
  /// - Parameter onlyStale: Asks only those that were not used while half of the limit was charged:
  ///   canvases of animations that nobody looks at give way to frames that are shown.
  private func relieve(_ byteCount: Int, of kind: Kind, onlyStale: Bool = false) -> Bool {
    guard used(for: kind) > 0 else { return false }
    var freed = 0
    // Each may have nothing to give: then all are asked, once.
    var attempts = members.withLock { $0[kind].count }
    while freed < byteCount, attempts > 0,
      let member = members.withLock({ $0[kind].oldest() })
    {
      if onlyStale, !isStale(member.share) { break }
      let count = member.shed(byteCount - freed)
      freed += count
      if member.share.heldBytes > 0, count > 0 { continue }
      attempts -= 1
      members.withLock { members in
        guard members[kind].removeFirst(member.share) else { return }
        if member.share.heldBytes == 0, member.share.list(false) {
          // Who charged meanwhile may have found it listed.
          guard member.share.heldBytes > 0, member.share.list(true) else { return }
        }
        members[kind].append(member)
      }
    }
    return freed > 0
  }

  private func isStale(_ share: BudgetShare) -> Bool {
    let time = time.load(ordering: .relaxed)
    return time > share.lastUse && time - share.lastUse > effectiveLimit / 2
  }
}
