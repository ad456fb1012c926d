import Testing
import Zoetrope

@Suite struct PixelRectTests {
  @Test func `rectangles that only touch have no intersection`() {
    let left = PixelRect(x: 0, y: 0, width: 2, height: 2)
    #expect(left.intersection(PixelRect(x: 2, y: 0, width: 2, height: 2)) == .empty)
  }
}
