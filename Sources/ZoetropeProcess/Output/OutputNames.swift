package import SystemPackage
internal import Zoetrope

/// The names of the files that a command will write. No file may occur twice, not even under two spellings of its name,
/// and none may have the name of a directory that has to be created for another.
package struct OutputNames {
  /// A directory that need not exist: the deepest existing directory on its path, and the rest of the path below that.
  private struct Directory: Hashable {
    let identity: FileIdentity?
    var rest: FilePath
  }

  private struct Place: Hashable {
    let directory: Directory
    let name: [UInt8]
  }

  private var directories: [FilePath: Directory] = [:]
  private var places: Set<Place> = []
  /// The places of the directories that have to be created.
  private var created: Set<Place> = []

  package init() {}

  /// Adds `path`. Returns false if the same file was added before, or if one of the files is a directory on the path of
  /// the other.
  package mutating func insert(_ path: FilePath) -> Bool {
    let parent = OutputFile.directory(of: path)
    let directory = directories[parent] ?? Self.directory(parent)
    if directories[parent] == nil {
      let missing = Self.missing(directory)
      guard places.isDisjoint(with: missing) else { return false }
      created.formUnion(missing)
      directories[parent] = directory
    }
    let name = path.lastComponent.map { FilePath(root: nil, [$0]).bytes } ?? []
    let place = Place(directory: directory, name: name)
    return !created.contains(place) && places.insert(place).inserted
  }

  /// Returns the places of `directory` and of the directories on its path, as far as they do not exist.
  private static func missing(_ directory: Directory) -> Set<Place> {
    var places: Set<Place> = []
    var parent = Directory(identity: directory.identity, rest: FilePath())
    for component in directory.rest.components {
      places.insert(Place(directory: parent, name: FilePath(root: nil, [component]).bytes))
      parent.rest.append(component)
    }
    return places
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
