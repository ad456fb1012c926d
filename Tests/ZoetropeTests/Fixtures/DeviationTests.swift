import Glibc
import SystemPackage
import Testing
import Zoetrope
import ZoetropeTestSupport

/// The page that names every deviation, against the library and the fixtures.
@Suite(.timeLimit(.minutes(10))) struct DeviationTests {
  /// A line of one of the page's tables.
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let file: String
    let others: String
    let isTolerated: Bool
    var testDescription: String { "\(name) \(file)" }
  }

  private static let root = FilePath(#filePath).removingLastComponent().removingLastComponent()
    .removingLastComponent().removingLastComponent()

  static let rows: [Row] = {
    let path = root.appending("Sources/Zoetrope/Zoetrope.docc/Deviations.md").string
    let text = String(decoding: (try? FixtureFile.read(path)) ?? [], as: UTF8.self)
    let parts = text.split(separator: "## Something is lost")
    return parts.enumerated().flatMap { number, part in
      part.split(separator: "\n").compactMap { line -> Row? in
        let cells = line.split(separator: "|").map { String($0.filter { $0 != "`" }).trimmed }
        guard line.hasPrefix("| `"), cells.count == 4 || cells.count == 5 else { return nil }
        return Row(
          name: cells[0], file: cells[1], others: cells[3], isTolerated: number == 0)
      }
    }
  }()

  /// The names of all kinds, as the source declares them.
  private static let names: Set<String> = {
    var names: Set<String> = []
    for name in (try? FixtureFile.list(root.appending("Sources/ZoetropeCore/Model").string)) ?? []
    where name.hasPrefix("Damage") {
      let path = root.appending("Sources/ZoetropeCore/Model/\(name)").string
      let text = String(decoding: (try? FixtureFile.read(path)) ?? [], as: UTF8.self)
        .replacing("(\n    ", with: "(")
      for line in text.split(separator: "\n") where line.contains("static let") {
        let parts = line.split(separator: "\"")
        if parts.count == 3 { names.insert(String(parts[1])) }
      }
    }
    return names
  }()

  @Test func `the page names every kind of damage, and no other`() {
    #expect(Self.names.count > 35)
    #expect(Set(Self.rows.map(\.name)) == Self.names)
    #expect(Self.rows.allSatisfy { !$0.others.isEmpty })
  }

  @Test(arguments: rows.filter { !$0.file.isEmpty })
  func `its file reports the deviation, and strict refuses what is lost`(row: Row) throws {
    let bytes = try FixtureLibrary().file("Bad/\(row.file)")
    let image = try AnimatedImage(bytes: bytes)
    let reader = FrameReader(image)
    var damage = image.damage
    while let frame = try reader.next() { damage += frame.damage.map { [$0] } ?? [] }
    let found = try #require(damage.first { $0.kind.name == row.name })
    #expect(found.kind.isTolerated == row.isTolerated)
    #expect(found.byteOffset <= bytes.count)
    guard !row.isTolerated else { return }
    #expect(throws: AnimatedImageError.self) {
      let reader = FrameReader(
        try AnimatedImage(bytes: bytes, options: DecodingOptions(damage: .strict)))
      while try reader.next() != nil {}
    }
  }

  @Test func `metadata past the limits is named`() throws {
    var gif = GIFBuilder()
    gif.signature()
    gif.screen(width: 1, height: 1, palette: GIFPalette([.black, .black]))
    for _ in 0..<3 { gif.raw([0x21, 0xfe, 1, 0x78, 0]) }
    gif.frame(GIFFrame(rect: PixelRect(x: 0, y: 0, width: 1, height: 1), indices: [0]))
    gif.trailer()
    var options = DecodingOptions()
    options.limits.metadataCount = 2
    let image = try AnimatedImage(bytes: gif.bytes, options: options)
    #expect(image.damage.map(\.kind) == [.metadataLimit])
  }
}

extension String {
  /// Without the blanks at both ends.
  fileprivate var trimmed: String {
    String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}
