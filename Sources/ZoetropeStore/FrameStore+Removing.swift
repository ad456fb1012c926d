internal import Synchronization

extension FrameStore {
  /// Returns the tables of all versions and secrets, and the files that killed writers left behind. Files of other
  /// programs are not included.
  private func files() -> [(name: String, status: FileStatus)] {
    TableDirectory.files(in: location).filter { StoreFiles.isTable($0.name) }
  }

  private var usedBytes: Int { files().reduce(0) { $0 + $1.status.allocatedBytes } }

  /// Removes every frame of the image with this content, in every size and format.
  public func remove(_ content: ContentIdentity) {
    defer { lookForRoom() }
    forEachTable { (table) throws(AnimatedImageError) in try table.remove(content) }
  }

  /// Removes the frames of the image with this content, in one size and format only.
  public func remove(
    _ content: ContentIdentity, size: PixelSize, format: PixelFormat = .rgba8
  ) {
    defer { lookForRoom() }
    let shape = TableShape(size: size, format: format)
    _ = attempt(shape: shape, creating: false) { (table, _) throws(AnimatedImageError) in
      try table.remove(content)
    }
  }

  /// Removes the frames of all images in one size and format.
  public func removeAll(size: PixelSize, format: PixelFormat = .rgba8) {
    defer { lookForRoom() }
    let shape = TableShape(size: size, format: format)
    let secret = state.withLock { $0.secret }
    removeFiles([(secret.tableName(of: shape), shape)])
  }

  /// Removes the frames of the image with this content, in one format only.
  public func remove(_ content: ContentIdentity, in format: FrameFormat) {
    guard let name = format.rendering.table else { return }
    defer { lookForRoom() }
    for (_, shape) in namedTables() where shape.name == name {
      _ = attempt(shape: shape, creating: false) { (table, _) throws(AnimatedImageError) in
        try table.remove(content)
      }
    }
  }

  /// Removes the frames of all images in every format with the same name as `format`. The other parameters of `format`
  /// have no effect.
  public func removeAll(in format: FrameFormat) {
    guard let name = format.rendering.table else { return }
    defer { lookForRoom() }
    for (file, shape) in namedTables() where shape.name?.prefix == name.prefix {
      removeFiles([(file, shape)])
    }
  }

  /// Returns the files and shapes of the tables of all named formats.
  private func namedTables() -> [(file: String, shape: TableShape)] {
    let secret = state.withLock { $0.secret }
    return files().compactMap { file in
      guard let shape = secret.shape(ofTable: file.name), shape.name != nil else { return nil }
      return (file.name, shape)
    }
  }

  /// Removes files of the store. Afterwards, no process finds frames in these files, not even a process that has them
  /// open.
  private func removeFiles(_ files: [(name: String, shape: TableShape?)]) {
    do throws(AnimatedImageError) { try checkWritable() } catch { return note(error) }
    for (name, shape) in files {
      FileSystem.remove(location.appending(name))
      if let shape { forget(shape) }
    }
    lookForRoom()
  }

  /// Makes the next attempt to store a frame check the directory again, because there may be room now.
  private func lookForRoom() { room.withLock { $0 = Room() } }

  /// Removes the tables of formats that have the same name as the format of table `name`, but other parameters. Keeps
  /// tables that a process has open or has changed within the last hour, because two versions of a program may be
  /// running at the same time.
  func removeTables(supersededBy name: TableName, _ secret: StoreSecret) {
    // Subtracting an hour from the present cannot overflow; a file may have any modification time.
    let anHourAgo = clock() - 3_600_000_000_000
    for file in files() {
      guard let other = secret.shape(ofTable: file.name)?.name, other.prefix == name.prefix,
        other != name, file.status.modified < anHourAgo
      else { continue }
      removeIfUnused(file.name)
    }
  }

  /// Removes all frames, for every process. Bitmaps in use stay valid. The disk space of a table is freed when the last
  /// process that has the table open closes it.
  public func removeAll() {
    if !isReadOnly { index.prune(to: 0) }
    removeFiles(files().map { ($0.name, nil) })
    let tables = state.withLock { $0.tables.removeAll() }
    _ = consume tables
  }

  /// Reads every frame and removes those whose checksum is wrong.
  ///
  /// - Returns: The number of intact frames and the number of removed frames. A table whose header is damaged is
  ///   removed and counts as one removed frame.
  /// - Throws: If the store is read-only, `storeDenied` at the first frame, or `storeDamaged` at the first table, that
  ///   is not intact; otherwise the error of a system call.
  public func verify() throws(AnimatedImageError) -> (intact: Int, dropped: Int) {
    var sum = (intact: 0, dropped: 0)
    try forEachTable { (table) throws(AnimatedImageError) in
      let counts = try table.verify()
      sum = (sum.intact + counts.intact, sum.dropped + counts.dropped)
    } failed: { (error, path) throws(AnimatedImageError) in
      guard error.code == .storeDamaged else { throw error }
      // Another process may have removed the table meanwhile.
      guard TableDirectory.exists(path) else { return }
      if isReadOnly { throw error }
      if let problem = FileSystem.remove(path), problem != .noSuchFileOrDirectory { throw error }
      sum.dropped += 1
    }
    return sum
  }

  /// The contents of the store, and the numbers of frames that this process looked up and stored. Computing the
  /// contents reads the entries of all tables.
  public var statistics: FrameStoreStatistics {
    var statistics = state.withLock { $0.statistics }
    forEachTable { (table) throws(AnimatedImageError) in
      let usage = try table.usage()
      statistics.frameCount += usage.frames
      statistics.tables.append(
        FrameStoreStatistics.Table(
          name: table.layout.shape.name?.formatName, size: table.layout.shape.size,
          format: table.layout.shape.format,
          frameCount: usage.frames, capacity: table.layout.slotCount, byteCount: usage.bytes))
    }
    statistics.byteCount = usedBytes
    (statistics.recordCount, statistics.recordByteCount) = recordUsage
    return statistics
  }
}
