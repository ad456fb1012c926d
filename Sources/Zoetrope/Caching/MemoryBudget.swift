package import Synchronization

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
  private let shift = Atomic<Int>(0)
  /// Bytes that may be held as far as the control group has room.
  private let ceiling = Atomic<Int>(.max)
  private let usedForFrames = Atomic<Int>(0)
  private let usedForCheckpoints = Atomic<Int>(0)
  private let usedForImages = Atomic<Int>(0)
  private let time = Atomic<UInt64>(1)
  private let members = Mutex<[Member]>([])
  private let watch: PressureWatch

  private struct Member: Sendable { weak var value: (any BudgetMember)? }

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
      if newValue { settle() } else { forgetRoom() }
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

  private var pressedLimit: Int { byteLimit >> shift.load(ordering: .relaxed) }

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

  /// Forgets what is known of the room: nobody looks at it any more.
  package func forgetRoom() { ceiling.store(.max, ordering: .relaxed) }

  /// Bytes held now.
  public var usedBytes: Int { used(for: .frames) + used(for: .checkpoints) + used(for: .images) }

  /// How short memory is; a rise evicts at once. Set by ``MemoryPressureMonitor`` or by the caller.
  public var pressure: MemoryPressure {
    get { MemoryPressure(shift: shift.load(ordering: .relaxed)) }
    set {
      shift.store(newValue.shift, ordering: .relaxed)
      settle()
    }
  }

  /// Bytes held for one purpose.
  package func used(for kind: Kind) -> Int { counter(kind) { $0.load(ordering: .relaxed) } }

  /// Bytes that may be held for one purpose.
  ///
  /// Compressed images may take a quarter: they save work for somebody who comes back. Checkpoints may
  /// take what nobody else uses, and half in any case: a cached frame spares the replay to that frame
  /// only, a checkpoint the one to all frames after it.
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

  package func register(_ member: any BudgetMember) {
    let others = members.withLock { members in
      let others = members.compactMap(\.value)
      members = (others + [member]).map { Member(value: $0) }
      return others
    }
    // One that is let go elsewhere at this moment ends here, without the lock.
    _ = consume others
  }

  package func charge(_ byteCount: Int, as kind: Kind) {
    _ = counter(kind) { $0.add(byteCount, ordering: .relaxed) }
  }

  private func counter<Value>(_ kind: Kind, _ body: (borrowing Atomic<Int>) -> Value) -> Value {
    switch kind {
    case .frames: body(usedForFrames)
    case .checkpoints: body(usedForCheckpoints)
    case .images: body(usedForImages)
    }
  }

  package func refund(_ byteCount: Int, as kind: Kind) { charge(-byteCount, as: kind) }

  /// Notes in `stamp` that its owner is used now.
  package func stamp(_ stamp: borrowing Atomic<UInt64>) {
    stamp.store(time.load(ordering: .relaxed), ordering: .relaxed)
  }

  /// Evicts until the limits hold or only floors are left. Call it with no lock held.
  package func settle() {
    watch.start(for: self)
    time.add(1, ordering: .relaxed)
    evict()
    // Only what stays fills the room, so what was evicted is not looked at.
    if watch.lookIfDue(for: self) { evict() }
  }

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
        (surplus > 0 && relieve(surplus, of: .checkpoints)) || relieve(over, of: .frames)
          || relieve(over, of: .checkpoints) || relieve(over, of: .images)
      else { break }
    }
  }

  /// Asks the members of one kind, the one used longest ago first; whether anything was freed.
  private func relieve(_ byteCount: Int, of kind: Kind) -> Bool {
    let candidates = members.withLock { members in members.compactMap(\.value) }
      .filter { $0.kind == kind }
      .map { (member: $0, lastUse: $0.lastUse) }
      .sorted { $0.lastUse < $1.lastUse }
    var freed = 0
    for candidate in candidates where freed < byteCount {
      freed += candidate.member.shed(byteCount - freed)
    }
    return freed > 0
  }
}
