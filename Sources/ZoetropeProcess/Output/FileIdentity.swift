package import SystemPackage
internal import Zoetrope

/// The identity of a file or directory, independent of its name.
struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  let isRegular: Bool

  /// Creates the identity of the file at `path`, following links. Returns nil if there is no file.
  init?(at path: FilePath) { self.init(FileStatus(at: path)) }

  /// Creates the identity of the file that `descriptor` refers to.
  init?(of descriptor: FileDescriptor) { self.init(try? FileStatus(of: descriptor)) }

  private init?(_ status: FileStatus?) {
    guard let status else { return nil }
    (device, inode, isRegular) = (status.device, status.inode, status.isRegular)
  }
}

extension InputFile {
  /// Returns whether the input is the file at `path`, even under another name or through links.
  package func isFile(at path: FilePath) -> Bool {
    guard let source = self.path, let identity = FileIdentity(at: path) else { return false }
    return identity == FileIdentity(at: source)
  }
}

/// The files that a command reads and must not overwrite.
package struct InputIdentities {
  private var names: [FileIdentity: String] = [:]

  /// Finds the identities of `inputs` and of the list that names them.
  package init(_ inputs: [InputFile]) {
    let lists = Set(inputs.compactMap(\.list)).map { InputFile($0) }
    for input in lists + inputs {
      let identity = input.path.map(FileIdentity.init(at:)) ?? FileIdentity(of: .standardInput)
      if let identity, identity.isRegular { names[identity] = input.name }
    }
  }

  /// Throws if `path` is an input, even under another name or through links.
  package func check(_ path: FilePath) throws(CommandFailure) {
    try check(FileIdentity(at: path), name: "\(path)")
  }

  /// Throws if `path` is an input other than `own`. The file of `own` may be replaced once it has been read.
  package func check(_ path: FilePath, unless own: InputFile?) throws(CommandFailure) {
    if own?.isFile(at: path) != true { try check(path) }
  }

  /// Throws if `stream` writes to a file that is an input of the command.
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
