package import SystemPackage
internal import Zoetrope

/// The identity of a file or directory, independent of its name.
struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  /// Whether it is a regular file, not a directory, pipe or device.
  let isRegular: Bool

  /// The identity of the file at `path`, following links; nil if there is none.
  init?(at path: FilePath) { self.init(FileStatus(at: path)) }

  /// The identity of the file that `descriptor` refers to.
  init?(of descriptor: FileDescriptor) { self.init(try? FileStatus(of: descriptor)) }

  private init?(_ status: FileStatus?) {
    guard let status else { return nil }
    (device, inode, isRegular) = (status.device, status.inode, status.isRegular)
  }
}

/// The files that a command reads, so that it does not overwrite them.
package struct InputIdentities {
  private var names: [FileIdentity: String] = [:]

  package init(_ inputs: [InputFile]) {
    for input in inputs {
      let identity = input.path.map(FileIdentity.init(at:)) ?? FileIdentity(of: .standardInput)
      if let identity, identity.isRegular { names[identity] = input.name }
    }
  }

  /// Throws if `path` is an input, by whatever name or through whatever links.
  package func check(_ path: FilePath) throws(CommandFailure) {
    try check(FileIdentity(at: path), name: "\(path)")
  }

  /// As ``check(_:)``, but `path` may be that of `own`, which is replaced when it has been read.
  package func check(_ path: FilePath, unless own: InputFile?) throws(CommandFailure) {
    let identity = FileIdentity(at: path)
    if let identity, let source = own?.path, identity == FileIdentity(at: source) { return }
    try check(identity, name: "\(path)")
  }

  /// Throws if `stream` is an input.
  package func check(_ stream: OutputStream) throws(CommandFailure) {
    try check(FileIdentity(of: stream.descriptor), name: stream.name)
  }

  private func check(_ identity: FileIdentity?, name: String) throws(CommandFailure) {
    guard let identity, let input = names[identity] else { return }
    throw CommandFailure(
      .usage, code: "outputIsInput",
      name == input
        ? "\(name) is an input and would be overwritten; choose another output name"
        : "\(name) is the same file as the input \(input); choose another output name")
  }
}

/// The names that a command will write. Each may occur once, however it is spelled.
package struct OutputNames {
  /// An existing directory, and the path from there to one that does not exist yet.
  private struct Directory: Hashable {
    let identity: FileIdentity?
    let rest: FilePath
  }

  private struct Place: Hashable {
    let directory: Directory
    let name: [UInt8]
  }

  private var directories: [FilePath: Directory] = [:]
  private var places: Set<Place> = []

  package init() {}

  /// Adds `path`; returns false if it was already there.
  package mutating func insert(_ path: FilePath) -> Bool {
    let parent = OutputFile.directory(of: path)
    let directory = directories[parent] ?? Self.directory(parent)
    directories[parent] = directory
    let name = path.lastComponent.map { FilePath(root: nil, [$0]).bytes } ?? []
    return places.insert(Place(directory: directory, name: name)).inserted
  }

  private static func directory(_ path: FilePath) -> Directory {
    var rest = FilePath()
    var parent = path.lexicallyNormalized()
    if parent.isEmpty { parent = "." }
    // Links are followed as far as the path exists; only the rest is normalized.
    if let identity = FileIdentity(at: path) { return Directory(identity: identity, rest: rest) }
    while true {
      if let identity = FileIdentity(at: parent) {
        return Directory(identity: identity, rest: rest)
      }
      guard let last = parent.lastComponent else { return Directory(identity: nil, rest: rest) }
      rest = FilePath(root: nil, [last] + Array(rest.components))
      parent.removeLastComponent()
      if parent.isEmpty { parent = "." }
    }
  }
}
