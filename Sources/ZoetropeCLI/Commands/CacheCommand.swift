import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// `zoetrope cache`.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Fill, inspect, check and empty the cache of decoded frames on disk.",
    discussion: """
      The cache holds the frames that --cache of play, still and extract keeps, in tables of one size \
      and pixel format each, and a record of every file that was opened, so that it need not be \
      scanned again. Several programs may use it at once, and any of them may be killed. Frames are \
      found by the bytes of their file: those of a file that was changed or removed are replaced in \
      time, as the least recently used ones.

      --json prints one object (schema zoetrope.cache/1). Exit status: 0 success, 1 frames that were \
      not intact were dropped, 4 the cache cannot be used.

      EXAMPLES:
        zoetrope cache warm *.gif --size 128x128
        zoetrope cache stat
      """,
    subcommands: [
      CacheStatCommand.self, CacheWarmCommand.self, CachePruneCommand.self,
      CacheVerifyCommand.self, CacheClearCommand.self,
    ])
}

/// Which cache a command works on, and how it reports.
struct CacheStoreArguments: ParsableArguments {
  @Option(help: ArgumentHelp("The cache's directory.", valueName: "dir"))
  var cache = CacheArgument.standard

  @Option(help: .cacheLimit)
  var cacheLimit: ByteCountArgument?

  @Flag(help: "Print JSON.")
  var json = false

  func validate() throws {
    if cache == .none { throw ValidationError("--cache names a directory here") }
    if cache == .standard { _ = try CacheArgument.standardDirectory() }
  }

  var directory: FilePath { cache.directory ?? FilePath() }

  var byteLimit: Int { cacheLimit?.count ?? CommandCache.defaultByteLimit }

  /// Opens the store, creating it if it is missing.
  func open() throws(CommandFailure) -> FrameStore {
    do throws(AnimatedImageError) {
      return try FrameStore(at: directory, byteLimit: byteLimit)
    } catch {
      throw failure(error)
    }
  }

  private func failure(_ error: AnimatedImageError) -> CommandFailure {
    var failure = CommandFailure(.cannotWrite, code: error.code.name, error.detail)
    failure.file = FileName(directory).text
    return failure
  }

  /// Runs `body` with the store and prints its report; an empty one if there is no store, which is
  /// then not created.
  func report(
    _ body: (FrameStore) throws(AnimatedImageError) -> StoreReport
  ) throws(CommandFailure) -> ExitStatus {
    var report = StoreReport(directory: directory, byteLimit: byteLimit)
    do throws(AnimatedImageError) {
      if try FrameStore.exists(at: directory) {
        report = try body(FrameStore(at: directory, byteLimit: byteLimit))
      }
    } catch {
      throw failure(error)
    }
    try OutputStream.print(
      json ? CommandRunner.line { report.write(to: &$0) } : Array(report.text.utf8))
    return report.droppedCount ?? 0 > 0 ? .partial : .success
  }
}

/// A command below `cache`.
protocol CacheSubcommand: ZoetropeSubcommand {
  var store: CacheStoreArguments { get }
}

extension CacheSubcommand {
  var reportsJSON: Bool { store.json }
}

/// `zoetrope cache stat`.
struct CacheStatCommand: CacheSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "stat",
    abstract: "Show what the cache holds: frames and bytes by size and pixel format.",
    discussion: """
      Bytes are those on disk. A table's capacity is the number of frames that it can hold, within the \
      limit of the whole cache.

      EXAMPLES:
        zoetrope cache stat
        zoetrope cache stat --cache thumbs.cache --json
      """)

  @OptionGroup(title: "Cache") var store: CacheStoreArguments

  func execute() throws(CommandFailure) -> ExitStatus { try store.report { StoreReport($0) } }
}

/// `zoetrope cache prune`.
struct CachePruneCommand: CacheSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Remove the least recently used frames until the cache keeps its limit.",
    discussion: """
      Also removes the tables of other versions of this program, and what killed programs left \
      behind. Whether a frame's file still exists is not known: frames are found by content, wherever \
      the file is.

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

/// `zoetrope cache verify`.
struct CacheVerifyCommand: CacheSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Read every frame in the cache and drop those whose checksum is wrong.",
    discussion: """
      Wrong frames are never shown, so this is for curiosity and for disks under suspicion. Exit \
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

/// `zoetrope cache clear`.
struct CacheClearCommand: CacheSubcommand {
  static let configuration = CommandConfiguration(
    commandName: "clear",
    abstract: "Remove all frames and records from the cache.",
    discussion: """
      Programs that show frames from it are not disturbed. Files in the directory that do not belong \
      to the cache stay.

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
