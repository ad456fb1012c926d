import ArgumentParser
import SystemPackage
import Zoetrope
import ZoetropeProcess

/// The options of commands that can keep decoded frames on disk.
struct CacheArguments: ParsableArguments {
  @Option(help: ArgumentHelp("Where to keep decoded frames for later runs.", valueName: "dir"))
  var cache = CacheArgument.none

  @Option(help: .cacheLimit)
  var cacheLimit: ByteCountArgument?

  func validate() throws {
    if cache == .none, cacheLimit != nil { throw ValidationError("--cache-limit requires --cache") }
    if cache == .standard { _ = try CacheArgument.standardDirectory() }
  }

  /// The settings of the cache to open.
  var settings: CommandCache {
    CommandCache(
      directory: cache.directory, byteLimit: cacheLimit?.count ?? CommandCache.defaultByteLimit)
  }
}

extension ArgumentHelp {
  static var cacheLimit: Self {
    Self(
      "The maximum size of the cache on disk, as in 500M or 2G. (default: 256M)",
      valueName: "bytes")
  }
}

/// A value of `--cache`.
enum CacheArgument: ExpressibleByArgument, Hashable {
  case none
  /// The cache directory of the user.
  case standard
  case directory(String)

  init?(argument: String) {
    switch argument {
    case "": return nil
    case "none": self = .none
    case "default": self = .standard
    default: self = .directory(argument)
    }
  }

  var defaultValueDescription: String {
    switch self {
    case .none: "none"
    case .standard: "default"
    case .directory(let name): name
    }
  }

  static var defaultCompletionKind: CompletionKind { .directory }

  /// The directory of the cache, or nil for ``none``.
  var directory: FilePath? {
    switch self {
    case .none: nil
    case .standard: FrameStore.defaultDirectory
    case .directory(let name): FilePath(bytes: RawArguments.bytes(of: name))
    }
  }

  /// Returns the cache directory of the user.
  ///
  /// - Throws: `ValidationError` if the directory is not known.
  static func standardDirectory() throws -> FilePath {
    if let directory = FrameStore.defaultDirectory { return directory }
    let home = environmentVariable("HOME") ?? ""
    throw ValidationError(
      "HOME is \(home.isEmpty ? "not set" : "not an absolute path"); name a directory with --cache DIR"
    )
  }
}

/// A number of bytes: an integer or a decimal fraction with an optional unit, in upper or lower case. K, M, G, KiB, MiB
/// and GiB are powers of 1024; KB, MB and GB are powers of 1000.
struct ByteCountArgument: ExpressibleByArgument, Hashable {
  let count: Int

  private static let units: [(name: String, factor: Double)] = [
    ("kib", 1024), ("mib", 1_048_576), ("gib", 1_073_741_824), ("kb", 1e3), ("mb", 1e6),
    ("gb", 1e9), ("k", 1024), ("m", 1_048_576), ("g", 1_073_741_824), ("b", 1),
  ]

  init?(argument: String) {
    // The Kelvin sign also has a lower case of k.
    guard argument.utf8.allSatisfy({ $0 < 128 }) else { return nil }
    let argument = argument.lowercased()
    let unit = Self.units.first { argument.hasSuffix($0.name) }
    let digits = unit.map { argument.dropLast($0.name.count) } ?? argument[...]
    // `Double` would also accept signs, exponents, `inf` and hexadecimal numbers.
    guard digits.first?.isASCIIDigit == true, digits.allSatisfy({ $0.isASCIIDigit || $0 == "." }),
      let number = Double(digits),
      let count = Int(exactly: (number * (unit?.factor ?? 1)).rounded())
    else { return nil }
    self.count = count
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
