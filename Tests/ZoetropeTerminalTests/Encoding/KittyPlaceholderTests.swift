import Testing
import Zoetrope

@testable import ZoetropeTerminal

/// kitty's images inside tmux, on screens wider than most.
@Suite(.timeLimit(.minutes(10)))
struct KittyPlaceholderTests {
  @Test(arguments: [40, 129, 200, 297])
  func `every cell of a wide picture is placed by marks of its own`(_ columns: Int) {
    var encoder = KittyEncoder(
      area: CellRect(column: 2, row: 1, columns: columns, rows: 3),
      pictureSize: PixelSize(width: 2, height: 2), imageID: 0x010204, passthrough: .tmux)
    var pen = PenState.unknown
    var bytes: [UInt8] = []
    encoder.encode(Sketch(width: 2, height: 2).bitmap, changed: nil, pen: &pen, into: &bytes)
    let scalars = Array(String(decoding: bytes, as: UTF8.self).unicodeScalars)
    let places = scalars.indices.filter { scalars[$0].value == 0x10EEEE }
    #expect(places.count == 3 * columns)
    let marks = places.map { [scalars[$0 + 1].value, scalars[$0 + 2].value] }
    #expect(Set(marks).count == 3 * columns)
    // All are marks, each combined with the character before it.
    #expect(
      marks.joined().allSatisfy {
        Unicode.Scalar($0)?.properties.canonicalCombiningClass == .above
      })
    if columns == 297 { #expect(marks.last == [0x030E, 0x1D244]) }
  }
}
