public import struct SystemPackage.FilePath

/// A value that names a file: a `FilePath`, which holds any path, or a `String`.
///
/// `URL` does not conform, because it may name a resource that is not a file. Pass the `path` of a file URL.
public protocol FilePathConvertible: Sendable {
  /// The path.
  var filePath: FilePath { get }
}

extension FilePath: FilePathConvertible {
  /// The path itself.
  public var filePath: FilePath { self }
}

extension String: FilePathConvertible {
  /// The path with this text.
  public var filePath: FilePath { FilePath(self) }
}
