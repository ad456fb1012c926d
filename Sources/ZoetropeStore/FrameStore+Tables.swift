internal import Synchronization
internal import SystemPackage

/// The tables that a store keeps open: the most recently used ones.
///
/// The mapping of a table takes up to twice the store's byte limit, because a table has slots for up to twice as many
/// bytes as the limit allows. With the default limit, the mappings of all open tables together take at most 8 GiB. This
/// is a small part of the address space, and takes memory only for pages that are read. If address space runs out,
/// tables that have no frame in use are closed.
struct OpenTables: Sendable {
  private static let maximumCount = 16
  private var tables: [TableShape: (table: FrameTable, turn: Int)] = [:]
  private var turn = 0
  /// The shapes of the tables that could not be opened within the last second, each with the error and its time.
  private var failures: [TableShape: Failure] = [:]
  /// The gates of the tables that are being opened, each with the number of threads that are opening the table or
  /// waiting to do so.
  private var gates: [TableShape: (gate: Gate, count: Int)] = [:]

  private typealias Failure = (error: AnimatedImageError, time: Int64)

  /// A lock that lets one thread at a time open a table, while other tables of the store stay usable.
  final class Gate: Sendable {
    let lock = Mutex(())
  }

  /// The table of `shape`, or nil if it is not open. Reading this value does not count as a use of the table.
  subscript(shape: TableShape) -> FrameTable? { tables[shape]?.table }

  /// Returns the table of `shape` and makes it the most recently used one, or returns nil if it is not open.
  mutating func use(_ shape: TableShape) -> FrameTable? {
    turn += 1
    tables[shape]?.turn = turn
    return tables[shape]?.table
  }

  /// Adds an open table, and returns the tables that it displaces. The caller must release these tables outside of
  /// locks, because releasing them closes their files.
  mutating func insert(_ table: FrameTable) -> [FrameTable] {
    let shape = table.layout.shape
    var closed = [remove(shape)]
    if tables.count >= Self.maximumCount,
      let oldest = tables.min(by: { $0.value.turn < $1.value.turn })
    {
      closed.append(remove(oldest.key))
    }
    turn += 1
    tables[shape] = (table, turn)
    failures[shape] = nil
    return closed.compactMap { $0 }
  }

  mutating func remove(_ shape: TableShape) -> FrameTable? {
    tables.removeValue(forKey: shape)?.table
  }

  /// Removes and returns the least recently used table that has no frame in use, or returns nil if there is no such
  /// table.
  mutating func removeIdle() -> FrameTable? {
    let idle = tables.filter { $0.value.table.isIdle }
    return idle.min { $0.value.turn < $1.value.turn }.flatMap { remove($0.key) }
  }

  mutating func removeAll() -> [FrameTable] {
    defer { tables = [:] }
    return tables.values.map(\.table)
  }

  /// If opening the table of `shape` failed within the last second before `now`, throws the same error again.
  func checkFailure(_ shape: TableShape, at now: Int64) throws(AnimatedImageError) {
    if let failure = failures[shape], Self.isRecent(failure, now) { throw failure.error }
  }

  mutating func note(_ error: AnimatedImageError, _ shape: TableShape, at now: Int64) {
    failures = failures.filter { Self.isRecent($0.value, now) }
    failures[shape] = (error, now)
  }

  /// Returns whether the failure occurred within the last second. A failure in the future, which appears when the clock
  /// is set back, is not recent.
  private static func isRecent(_ failure: Failure, _ now: Int64) -> Bool {
    failure.time <= now && now - failure.time < 1_000_000_000
  }

  /// The number of shapes for which a failure is remembered.
  var failureCount: Int { failures.count }

  mutating func enter(_ shape: TableShape) -> Gate {
    let (gate, count) = gates[shape] ?? (Gate(), 0)
    gates[shape] = (gate, count + 1)
    return gate
  }

  mutating func leave(_ shape: TableShape) {
    gates[shape]?.count -= 1
    if gates[shape]?.count == 0 { gates[shape] = nil }
  }
}

extension FrameStore {
  /// Returns the table of `shape` and the secret of the store, or nil if there is no such table and `creating` is
  /// false.
  func table(
    _ shape: TableShape, creating: Bool
  ) throws(AnimatedImageError) -> (FrameTable, StoreSecret)? {
    if let open = openTable(shape) { return open }
    let now = clock()
    let secret = try state.withLock { (state) throws(AnimatedImageError) in
      try state.tables.checkFailure(shape, at: now)
      return state.secret
    }
    if !creating, !TableDirectory.exists(path(shape, secret)) { return nil }
    let gate = state.withLock { $0.tables.enter(shape) }
    defer { state.withLock { $0.tables.leave(shape) } }
    return try gate.lock.withLock { (_) throws(AnimatedImageError) in
      // Another thread may have opened the table meanwhile.
      if let open = openTable(shape) { return open }
      do throws(AnimatedImageError) {
        return try openFile(shape, creating: creating)
      } catch {
        // A damaged table is replaced when the next frame is stored in it.
        if error.code != .storeDamaged {
          state.withLock { $0.tables.note(error, shape, at: now) }
        }
        throw error
      }
    }
  }

  private func openTable(_ shape: TableShape) -> (FrameTable, StoreSecret)? {
    let (table, secret) = state.withLock { ($0.tables.use(shape), $0.secret) }
    guard let table else { return nil }
    // Another process may have removed the table, and a third process may have created it again.
    do throws(AnimatedImageError) {
      try table.checkFile()
      return (table, secret)
    } catch {
      forget(shape)
      return nil
    }
  }

  /// Opens the table of `shape`, or creates it if `creating` is true, and adds it to the open tables.
  private func openFile(
    _ shape: TableShape, creating: Bool
  ) throws(AnimatedImageError) -> (FrameTable, StoreSecret) {
    var secret = state.withLock { $0.secret }
    if !TableDirectory.exists(secretPath) {
      secret = try StoreSecret.load(in: location, readOnly: isReadOnly, preferring: secret)
      state.withLock { $0.secret = secret }
    }
    let table = try FrameTable.open(
      path(shape, secret), shape, byteLimit: byteLimit, secret.hash, creating: creating,
      readOnly: isReadOnly, clock: clock, mayGrow: { makeRoom($0) }, closeOther: { closeIdleFile() }
    )
    let closed = state.withLock { $0.tables.insert(table) }
    _ = consume closed
    if creating, let name = shape.name { removeTables(supersededBy: name, secret) }
    return (table, secret)
  }

  private func path(_ shape: TableShape, _ secret: StoreSecret) -> FilePath {
    location.appending(secret.tableName(of: shape))
  }

  /// Runs `body` with the table of `shape` and returns its result. Returns nil if there is no table or an error occurs.
  /// The error is recorded as the store's last error.
  func attempt<Result>(
    shape: TableShape, creating: Bool,
    _ body: (FrameTable, StoreSecret) throws(AnimatedImageError) -> Result
  ) -> Result? {
    do throws(AnimatedImageError) {
      guard let (table, secret) = try table(shape, creating: creating) else { return nil }
      return try body(table, secret)
    } catch {
      if error.code == .storeDamaged { forget(shape) }
      note(error)
      return nil
    }
  }

  func forget(_ shape: TableShape) {
    let table = state.withLock { $0.tables.remove(shape) }
    _ = consume table
  }

  /// Runs `body` with the table of `shape` and returns its result, or returns nil if there is no table. Closes the
  /// table afterwards unless it was open before, because there may be more tables than can be mapped at the same time.
  private func visit<Result>(
    _ shape: TableShape, _ body: (FrameTable) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result? {
    let (open, secret) = state.withLock { ($0.tables[shape], $0.secret) }
    if let open, (try? open.checkFile()) != nil { return try body(open) }
    let path = path(shape, secret)
    guard TableDirectory.exists(path) else { return nil }
    return try body(
      FrameTable.open(
        path, shape, byteLimit: byteLimit, secret.hash, creating: false, readOnly: isReadOnly,
        clock: clock, closeOther: { closeIdleFile() }))
  }

  /// Runs `body` with every table on disk in turn.
  ///
  /// - Parameter failed: Called with each error that occurs when a table is opened or that `body` throws, and with the
  ///   path of the table's file.
  func forEachTable(
    _ body: (FrameTable) throws(AnimatedImageError) -> Void,
    failed: (AnimatedImageError, FilePath) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) {
    let secret = state.withLock { $0.secret }
    for file in TableDirectory.files(in: location) {
      guard let shape = secret.shape(ofTable: file.name) else { continue }
      do throws(AnimatedImageError) {
        _ = try visit(shape, body)
      } catch {
        try failed(error, location.appending(file.name))
      }
    }
  }

  /// Runs `body` with every table on disk in turn, and records each error as the store's last error.
  func forEachTable(_ body: (FrameTable) throws(AnimatedImageError) -> Void) {
    do throws(AnimatedImageError) {
      try forEachTable(body) { (error, _) throws(AnimatedImageError) in note(error) }
    } catch {
      note(error)
    }
  }
}

extension FrameStore: IdleFileHolder {
  /// Closes the least recently used table that has no frame in use. Returns false if there is no such table.
  package func closeIdleFile() -> Bool {
    let table = state.withLock { $0.tables.removeIdle() }
    return table != nil
  }
}
