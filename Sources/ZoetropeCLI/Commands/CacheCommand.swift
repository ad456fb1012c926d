import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The command `zoetrope cache`.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Fill, inspect, check and clear the disk cache of decoded frames.",
    discussion: """
      The cache holds the decoded frames that the commands play, still and extract store with \
      --cache. It has one table per size and pixel format. It also holds a record of every file \
      that was opened, so that the file need not be scanned again. Several programs can use the \
      cache at the same time, and killing one of them does no harm. Frames are found by the \
      contents of their file, not by its name. Frames of changed or deleted files are no longer \
      used, so in time they are evicted.

      --json prints one object (schema zoetrope.cache/2), but cache warm prints an object for each \
      file. Exit status: 0 success, 1 damaged frames were dropped, 4 the cache cannot be used, or \
      there is none in the directory that was named.

      EXAMPLES:
        zoetrope cache warm *.gif --size 128x128
        zoetrope cache stat
      """,
    subcommands: [
      CacheStatCommand.self, CacheWarmCommand.self, CachePruneCommand.self,
      CacheVerifyCommand.self, CacheClearCommand.self,
    ])
}

/// The options of commands that work on a cache: the cache, its limit, and the form of the report.
struct CacheStoreArguments: ParsableArguments {
  @Option(help: ArgumentHelp("The directory of the cache.", valueName: "dir"))
  var cache = CacheArgument.standard

  @Option(help: .cacheLimit)
  var cacheLimit: ByteCountArgument?

  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    if cache == .none { throw ValidationError("--cache must be default or a directory") }
    if cache == .standard { _ = try CacheArgument.standardDirectory() }
  }

  var directory: FilePath { cache.directory ?? FilePath() }

  var byteLimit: Int { cacheLimit?.count ?? CommandCache.defaultByteLimit }

  /// Opens the store. Creates it if it is missing.
  func open() throws(CommandFailure) -> FrameStore {
    do throws(AnimatedImageError) {
      return try FrameStore(at: directory, byteLimit: byteLimit)
    } catch {
      throw failure(error)
    }
  }

  private func failure(_ error: AnimatedImageError) -> CommandFailure {
    CommandFailure(
      .cannotWrite, code: error.code.name, error.detail, file: FileName(directory).text)
  }

  /// Runs `body` with the store, and prints the report that `body` returns. If there is no store in the user's cache
  /// directory yet, prints an empty report without creating a store. If a directory that was named has none, throws,
  /// because its name may be misspelled.
  func report(
    _ body: (FrameStore) throws(AnimatedImageError) -> StoreReport
  ) throws(CommandFailure) -> ExitStatus {
    var report = StoreReport(directory: directory, byteLimit: byteLimit)
    do throws(AnimatedImageError) {
      if try FrameStore.exists(at: directory) {
        report = try body(FrameStore(at: directory, byteLimit: byteLimit))
      } else if cache != .standard {
        throw AnimatedImageError(
          .io,
          FileStatus(at: directory) == nil
            ? "there is no such directory" : "there is no cache in this directory")
      }
    } catch {
      throw failure(error)
    }
    try OutputStream.print(
      json ? CommandRunner.line { report.write(to: &$0) } : Array(report.text.utf8))
    return report.droppedCount ?? 0 > 0 ? .partial : .success
  }
}

/// A subcommand of `cache`.
protocol CacheSubcommand: ZoetropeSubcommand {
  var store: CacheStoreArguments { get }
}

extension CacheSubcommand {
  var reportsJSON: Bool { store.json }
}

/// The command `zoetrope cache stat`.
struct CacheStatCommand: CacheSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "stat",
    abstract: "Show the frames and bytes in the cache by size and pixel format.",
    usage: "zoetrope cache stat [options]",
    discussion: """
      Byte counts are the space that is used on disk. The capacity of a table is the number of \
      frames that it can hold within the limit of the whole cache.

      EXAMPLES:
        zoetrope cache stat
        zoetrope cache stat --cache thumbs.cache --json
      """)

  @OptionGroup(title: "Cache") var store: CacheStoreArguments

  func execute() throws(CommandFailure) -> ExitStatus { try store.report { StoreReport($0) } }
}

/// The command `zoetrope cache prune`.
struct CachePruneCommand: CacheSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Remove the least recently used frames until the cache fits its limit.",
    usage: "zoetrope cache prune [options]",
    discussion: """
      This also removes tables of other versions of zoetrope and files left behind by programs \
      that were killed. Frames are found by the contents of their file, not by its path, so the command \
      cannot tell which frames belong to deleted files.

      EXAMPLES:
        zoetrope cache prune --cache-limit 100M
        zoetrope cache prune --cache thumbs.cache --cache-limit 1G --json
      """)

  @OptionGroup(title: "Cache") var store: CacheStoreArguments

  func execute() throws(CommandFailure) -> ExitStatus {
    try store.report { (frames) throws(AnimatedImageError) in
      let before = frames.statistics
      try frames.prune(to: store.byteLimit)
      return StoreReport(frames, since: before)
    }
  }
}

/// The command `zoetrope cache verify`.
struct CacheVerifyCommand: CacheSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Read every frame in the cache and drop those with a wrong checksum.",
    usage: "zoetrope cache verify [options]",
    discussion: """
      Damaged frames are never shown, so you need this only to check a disk that you suspect. Exit \
      status: 0 all frames are intact, 1 some were dropped.

      EXAMPLES:
        zoetrope cache verify
        zoetrope cache verify --cache thumbs.cache
      """)

  @OptionGroup(title: "Cache") var store: CacheStoreArguments

  func execute() throws(CommandFailure) -> ExitStatus {
    try store.report { (frames) throws(AnimatedImageError) in
      let (intact, dropped) = try frames.verify()
      var report = StoreReport(frames)
      (report.intactCount, report.droppedCount) = (intact, dropped)
      return report
    }
  }
}

/// The command `zoetrope cache clear`.
struct CacheClearCommand: CacheSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Remove all frames and records from the cache.",
    usage: "zoetrope cache clear [options]",
    discussion: """
      Programs that are using the cache are not disturbed. Other files in the directory are kept.

      EXAMPLES:
        zoetrope cache clear
        zoetrope cache clear --cache thumbs.cache
      """)

  @OptionGroup(title: "Cache") var store: CacheStoreArguments

  func execute() throws(CommandFailure) -> ExitStatus {
    try store.report { frames in
      let before = frames.statistics
      frames.removeAll()
      return StoreReport(frames, since: before)
    }
  }
}
