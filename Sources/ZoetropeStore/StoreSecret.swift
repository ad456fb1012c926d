internal import SystemPackage

/// The random bytes that key a store's hashes and checksums. They are kept in a file in the store's directory.
///
/// Nobody who does not know these bytes can construct a file that a lookup mistakes for another file. Frames written
/// under another secret never match a lookup in this store.
struct StoreSecret: Sendable {
  static let fileName = "secret"

  let hash: HashSecret
  private let bytes: [UInt8]
  /// A string that distinguishes this secret from others in the names of tables.
  private let fingerprint: String

  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
    hash = HashSecret(bytes)
    let word = hash.hash64(Array("zoetrope".utf8).rawBytes)
    fingerprint = String(word, radix: 16)
  }

  /// Reads the secret in `directory`. Creates the directory and the secret if they are missing, and replaces a damaged
  /// secret.
  ///
  /// - Parameters:
  ///   - readOnly: Whether to change nothing, and to throw `storeDenied` if there is no valid secret.
  ///   - preferred: The secret to store if `directory` contains no valid one. Default: nil, which means a new random
  ///     secret.
  static func load(
    in directory: FilePath, readOnly: Bool, preferring preferred: StoreSecret? = nil
  ) throws(AnimatedImageError) -> StoreSecret {
    if !readOnly { try TableDirectory.make(directory) }
    let path = directory.appending(fileName)
    var replaces = false
    for _ in 0..<8 {
      if let file = try TableFile.open(path, readOnly: readOnly) {
        let stored = try file.read(HashSecret.byteCount + 9, at: 0)
        if stored.count == HashSecret.byteCount + 8 {
          let secret = StoreSecret(Array(stored.prefix(HashSecret.byteCount)))
          if secret.stored == stored { return secret }
        }
        replaces = true
      }
      if readOnly {
        throw AnimatedImageError(
          .storeDenied,
          "\(directory.quoted) is read-only, and "
            + (replaces ? "its secret is damaged" : "there is no store in it"))
      }
      let secret = preferred ?? StoreSecret(HashSecret.random())
      try TableDirectory.create(path, replacing: replaces) {
        (file) throws(AnimatedImageError) in try file.write(secret.stored.rawBytes, at: 0)
      }
    }
    throw AnimatedImageError(.storeDamaged, "other processes keep replacing \(path.quoted)")
  }

  /// The secret's bytes, followed by their checksum.
  private var stored: [UInt8] {
    let sum = hash.hash64(bytes.rawBytes)
    return bytes + (0..<8).map { UInt8(truncatingIfNeeded: sum >> UInt64($0 * 8)) }
  }

  /// Returns the file name of the table of `shape`, for this secret and this version.
  func tableName(of shape: TableShape) -> String {
    (shape.name.map { "\($0.text)-" } ?? "") + "\(shape.size)-\(shape.format)\(suffix)"
  }

  /// Returns the shape of the table whose file is called `name`, or nil if `name` is not the name of a table of this
  /// secret and version.
  func shape(ofTable name: String) -> TableShape? {
    var parts = name.split(separator: "-")[...]
    let text = parts.count == 5 ? parts.popFirst() : nil
    guard parts.count == 4, let first = parts.popFirst(), let second = parts.popFirst() else {
      return nil
    }
    let sides = first.split(separator: "x").compactMap { Int($0) }
    guard sides.count == 2, let format = PixelFormat.all.first(where: { $0.description == second })
    else { return nil }
    let size = PixelSize(width: sides[0], height: sides[1])
    let shape = TableShape(
      size: size, format: format,
      name: text.flatMap { TableName(text: String($0), box: size) })
    return tableName(of: shape) == name ? shape : nil
  }

  private var suffix: String {
    "-\(fingerprint)-v\(TableLayout.version).\(TableLayout.pixelVersion)\(StoreFiles.tableSuffix)"
  }
}
