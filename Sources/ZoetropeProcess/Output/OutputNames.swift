package import SystemPackage
internal import Zoetrope

/// The names of the files that a command will write. A file may occur only once, however its name is spelled.
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

  /// Adds `path`. Returns false if it was already there.
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
