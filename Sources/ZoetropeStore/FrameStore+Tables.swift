internal import Synchronization
internal import SystemPackage

/// The most recently used tables, which a store keeps open.
///
/// Each table maps up to twice the store's limit, because it is as large as the limit allows for its frame size. At the
/// default limit, all tables together map at most 8 GiB. This is a small part of the address space, and costs memory
/// only for pages that are read. If address space is limited, tables without a lease are closed.
struct OpenTables: Sendable {
  private static let maximumCount = 16
  private var tables: [TableShape: (table: FrameTable, turn: Int)] = [:]
  private var turn = 0
  /// The shapes whose table could not be opened within the last second, with the error and the time.
  private var failures: [TableShape: Failure] = [:]
  /// The gates of the tables being opened, each with the number of threads that are opening the table or waiting for
  /// it.
  private var gates: [TableShape: (gate: Gate, count: Int)] = [:]

  private typealias Failure = (error: AnimatedImageError, time: Int64)

  /// Lets one thread at a time open a table, while other tables of the store stay usable.
  final class Gate: Sendable {
    let lock = Mutex(())
  }

  /// The table of `shape`, if it is open. Does not count as a use.
  subscript(shape: TableShape) -> FrameTable? { tables[shape]?.table }

  /// Returns the table of `shape` if it is open, and makes it the most recently used one.
  mutating func use(_ shape: TableShape) -> FrameTable? {
    turn += 1
    tables[shape]?.turn = turn
    return tables[shape]?.table
  }

  /// Adds an open table, and returns the tables that it displaces, which must be closed outside of locks.
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

  /// Removes the least recently used table that has no frame in use.
  mutating func removeIdle() -> FrameTable? {
    let idle = tables.filter { $0.value.table.isIdle }
    return idle.min { $0.value.turn < $1.value.turn }.flatMap { remove($0.key) }
  }

  mutating func removeAll() -> [FrameTable] {
    defer { tables = [:] }
    return tables.values.map(\.table)
  }

  /// Throws the error again if opening the table has failed shortly before `now`.
  func checkFailure(_ shape: TableShape, at now: Int64) throws(AnimatedImageError) {
    if let failure = failures[shape], Self.isRecent(failure, now) { throw failure.error }
  }

  mutating func note(_ error: AnimatedImageError, _ shape: TableShape, at now: Int64) {
    failures = failures.filter { Self.isRecent($0.value, now) }
    failures[shape] = (error, now)
  }

  /// Returns whether the failure still counts. It does not if the clock has been set back.
  private static func isRecent(_ failure: Failure, _ now: Int64) -> Bool {
    failure.time <= now && now - failure.time < 1_000_000_000
  }

  /// The number of shapes whose failure is remembered.
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
  /// Returns the table of `shape`; nil if there is none and it must not be created.
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
        // A damaged table is replaced when the next frame is stored there.
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
    // Another process may have removed the table, and a third one may have created it again.
    do throws(AnimatedImageError) {
      try table.checkFile()
      return (table, secret)
    } catch {
      forget(shape)
      return nil
    }
  }

  /// Opens the table of `shape` for all threads.
  private func openFile(
    _ shape: TableShape, creating: Bool
  ) throws(AnimatedImageError) -> (FrameTable, StoreSecret) {
    var secret = state.withLock { $0.secret }
    if !TableDirectory.exists(secretPath) {
      secret = try StoreSecret.load(in: directory, preferring: secret)
      state.withLock { $0.secret = secret }
    }
    let table = try FrameTable.open(
      path(shape, secret), shape, byteLimit: byteLimit, secret.hash, creating: creating,
      clock: clock, mayGrow: { makeRoom($0) }, closeOther: { closeIdleFile() })
    let closed = state.withLock { $0.tables.insert(table) }
    _ = consume closed
    if creating, let name = shape.name { removeTables(supersededBy: name, secret) }
    return (table, secret)
  }

  private func path(_ shape: TableShape, _ secret: StoreSecret) -> FilePath {
    directory.appending(secret.tableName(of: shape))
  }

  /// Runs `body` with the table of `shape`. Returns nil if there is no table, or after an error, which is recorded.
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

  /// Runs `body` with the table of `shape`, and closes the table afterwards unless it was open before: there may be
  /// more tables than can be mapped at once. Returns nil if there is no table.
  private func visit<Result>(
    _ shape: TableShape, _ body: (FrameTable) throws(AnimatedImageError) -> Result
  ) throws(AnimatedImageError) -> Result? {
    let (open, secret) = state.withLock { ($0.tables[shape], $0.secret) }
    if let open, (try? open.checkFile()) != nil { return try body(open) }
    let path = path(shape, secret)
    guard TableDirectory.exists(path) else { return nil }
    return try body(
      FrameTable.open(
        path, shape, byteLimit: byteLimit, secret.hash, creating: false, clock: clock,
        closeOther: { closeIdleFile() }))
  }

  /// Runs `body` with every table on disk in turn.
  ///
  /// - Parameter failed: Called with the errors of opening a table and of `body`, and the table's file.
  func forEachTable(
    _ body: (FrameTable) throws(AnimatedImageError) -> Void,
    failed: (AnimatedImageError, FilePath) throws(AnimatedImageError) -> Void
  ) throws(AnimatedImageError) {
    let secret = state.withLock { $0.secret }
    for file in TableDirectory.files(in: directory) {
      guard let shape = secret.shape(ofTable: file.name) else { continue }
      do throws(AnimatedImageError) {
        _ = try visit(shape, body)
      } catch {
        try failed(error, directory.appending(file.name))
      }
    }
  }

  /// Runs `body` with every table on disk in turn, and records errors.
  func forEachTable(_ body: (FrameTable) throws(AnimatedImageError) -> Void) {
    do throws(AnimatedImageError) {
      try forEachTable(body) { (error, _) throws(AnimatedImageError) in note(error) }
    } catch {
      note(error)
    }
  }
}

extension FrameStore: IdleFileHolder {
  /// Closes the least recently used table that has no frame in use.
  package func closeIdleFile() -> Bool {
    let table = state.withLock { $0.tables.removeIdle() }
    return table != nil
  }
}
