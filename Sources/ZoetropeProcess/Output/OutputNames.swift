package import SystemPackage
internal import Zoetrope

/// The names of the files that a command will write. No file may occur twice, not even under two spellings of its name.
package struct OutputNames {
  /// A directory that need not exist: the deepest existing directory on its path, and the rest of the path below that.
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

  /// Adds `path`. Returns false if the same file was added before.
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
    // If the whole path exists, its links are followed. Otherwise the path is normalized lexically, and then the part
    // of it that exists is found.
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
