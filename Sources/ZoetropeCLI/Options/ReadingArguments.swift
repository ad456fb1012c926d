import ArgumentParser
import Zoetrope
import ZoetropeProcess

/// The options of every command that opens files.
struct ReadingArguments: ParsableArguments {
  @Option(help: "Limits on a file's size, memory use and frame count.")
  var limits = LimitsProfile.default

  @Option(help: "How to treat damaged files.")
  var damage = DamageChoice.salvage

  @Option(help: "Which decoder to use.")
  var decoder = DecoderChoice.fast

  /// The options for the library's decoders.
  var options: DecodingOptions {
    DecodingOptions(damage: damage.policy, limits: limits.limits, decoder: decoder.decoder)
  }
}

/// The options of commands that accept several files.
struct FileArguments: ParsableArguments {
  @Flag(name: .shortAndLong, help: "Also search the subdirectories of directories.")
  var recursive = false

  @OptionGroup var names: FileListArguments

  /// Throws if neither an argument nor an option names any file.
  func check(_ files: [String]) throws { try names.check(files) }

  /// Returns the list of all files in the arguments and in `--files-from`, as the user named them.
  func list(_ files: [String]) -> InputList {
    InputList(
      files, isRecursive: recursive, list: names.filesFrom, endsNamesWithNull: names.null)
  }

  /// Returns the inputs of the command, with directories replaced by the animations in them.
  ///
  /// - Parameter output: The template or directory of the outputs, so that these do not become inputs of the next run.
  func inputs(
    _ files: [String], besides output: String? = nil
  ) throws(CommandFailure) -> [InputFile] {
    try list(files).inputs(outputDirectory: output.flatMap { OutputTemplate.directory(of: $0) })
  }
}

/// The options that name a list of further files.
struct FileListArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Also read file names from this list, one per line; - for stdin.", valueName: "list"),
    completion: .file())
  var filesFrom: String?

  @Flag(
    name: [.customShort("0"), .customLong("null")],
    help: "With --files-from: names end with NUL, as find -print0 prints them.")
  var null = false

  func validate() throws {
    if null, filesFrom == nil { throw ValidationError("-0 requires --files-from") }
    if filesFrom == "" { throw ValidationError("the name of the list of files is empty") }
  }

  /// Throws if neither an argument nor `--files-from` names any file.
  func check(_ files: [String]) throws {
    if files.isEmpty, filesFrom == nil { throw ValidationError("name a file") }
  }
}

/// The options of commands that can read a file while it is being written.
struct FollowArguments: ParsableArguments {
  @Flag(help: "Read a file while it is being written.")
  var follow = false

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "Treat the file as complete if no data arrives for this long, as in 2s.", valueName: "time"))
  var followTimeout: TimeArgument?

  func validate() throws {
    if followTimeout != nil, !follow { throw ValidationError("--follow-timeout requires --follow") }
  }

  /// Throws if several files are to be followed, because the first one may never end.
  func check(_ files: [String]) throws {
    if follow, files.count != 1 { throw ValidationError(Self.conflict) }
  }

  /// Throws unless there is one input. A single argument may be a directory with several.
  static func check(_ inputs: [InputFile]) throws(CommandFailure) {
    guard inputs.count == 1 else { throw .usage(conflict) }
  }

  private static let conflict = "--follow works with one file only"
}

extension ArgumentHelp {
  static var files: Self { "GIF or PNG files or directories; - for stdin." }
  static var json: Self { "Print one line of JSON per file." }
  static var timing: Self {
    Self("How to treat short delays when times are calculated.", valueName: "policy")
  }
}

/// A value of `--damage`.
enum DamageChoice: String, ExpressibleByArgument, CaseIterable {
  case salvage, strict, partial

  var policy: DamagePolicy {
    switch self {
    case .salvage: .salvage
    case .strict: .strict
    case .partial: .partialRows
    }
  }
}

/// A value of `--decoder`.
enum DecoderChoice: String, ExpressibleByArgument, CaseIterable {
  case fast, reference

  var decoder: PixelDecoder { self == .fast ? .fast : .reference }
}

/// A value of `--limits`.
enum LimitsProfile: String, ExpressibleByArgument, CaseIterable {
  case `default`, strict, none

  var limits: DecodingLimits {
    switch self {
    case .default: .default
    case .strict: .strict
    case .none: .none
    }
  }
}

/// A value of `--timing`: the name of a policy, or `MIN:REPLACEMENT` in milliseconds.
struct TimingArgument: ExpressibleByArgument, Hashable {
  let policy: DelayPolicy

  init(policy: DelayPolicy) { self.policy = policy }

  init?(argument: String) {
    if let named = NamedPolicy.all.first(where: { $0.name.description == argument }) {
      policy = named.policy
      return
    }
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let least = UInt32(parts[0]), let replacement = UInt32(parts[1])
    else { return nil }
    policy = .minimum(
      .milliseconds(Int(least)), replacement: .milliseconds(Int(replacement)))
  }

  var defaultValueDescription: String { "\(policy)" }

  static var defaultCompletionKind: CompletionKind {
    .list(NamedPolicy.all.map(\.name.description))
  }
}

/// A value of `--timing` for `info`. Besides the values of the other commands, it may be `all`, which shows the named
/// policies side by side.
struct InfoTimingArgument: ExpressibleByArgument, Hashable {
  /// The policy for outputs that have room for only one time.
  let policy: DelayPolicy
  let isAll: Bool

  init(policy: DelayPolicy) { (self.policy, isAll) = (policy, false) }

  init?(argument: String) {
    isAll = argument == "all"
    guard let timing = isAll ? TimingArgument(policy: .browser) : TimingArgument(argument: argument)
    else { return nil }
    policy = timing.policy
  }

  var defaultValueDescription: String { "\(policy)" }

  static var defaultCompletionKind: CompletionKind {
    .list(NamedPolicy.all.map(\.name.description) + ["all"])
  }
}

extension CompletionKind {
  /// Files with the extension of an animation, and directories.
  static var animations: CompletionKind {
    .file(extensions: FormatTable.rows.flatMap(\.fileExtensions))
  }
}
