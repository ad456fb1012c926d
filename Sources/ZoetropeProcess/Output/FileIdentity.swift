package import SystemPackage

/// Which file or directory something is, whatever it is called.
struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  /// Whether it is a file with bytes of its own, no directory, pipe or device.
  let isRegular: Bool

  /// What `path` leads to, through links; nil when there is nothing.
  init?(at path: FilePath) { self.init(FileStatus(at: path)) }

  /// What `descriptor` is open for.
  init?(of descriptor: FileDescriptor) { self.init(FileStatus(of: descriptor)) }

  private init?(_ status: FileStatus?) {
    guard let status else { return nil }
    (device, inode, isRegular) = (status.device, status.inode, status.isRegular)
  }
}

/// The files that a command reads, so that it does not write over them.
package struct InputIdentities {
  private var names: [FileIdentity: String] = [:]

  package init(_ inputs: [InputFile]) {
    for input in inputs {
      let identity = input.path.map(FileIdentity.init(at:)) ?? FileIdentity(of: .standardInput)
      if let identity, identity.isRegular { names[identity] = input.name }
    }
  }

  /// Refuses to write to `path` when that is an input, perhaps by another name or through links.
  package func check(_ path: FilePath) throws(CommandFailure) {
    try check(FileIdentity(at: path), name: "\(path)")
  }

  /// Refuses to write to `stream` when that is an input.
  package func check(_ stream: OutputStream) throws(CommandFailure) {
    try check(FileIdentity(of: stream.descriptor), name: stream.name)
  }

  private func check(_ identity: FileIdentity?, name: String) throws(CommandFailure) {
    guard let identity, let input = names[identity] else { return }
    throw CommandFailure(
      .usage, code: "outputIsInput",
      name == input
        ? "\(name) is read and would be written over; give the output another name"
        : "\(name) is the same file as \(input), which is read; give the output another name")
  }
}

/// The names that a command is to write, each of them once, however they are spelt.
package struct OutputNames {
  /// A directory that is there, or the way from one to a directory that is not made yet.
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

  /// Adds `path`; false when it was there already.
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
    // Links are followed as far as there is anything: what is normalized is only what is not there.
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
