import ArgumentParser
import Zoetrope

/// The form in which an atlas lists its frames, as in TexturePacker and Aseprite.
enum AtlasShape: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// An object with one key per frame.
  case hash
  /// An array of objects with a `filename`.
  case array
}

/// An atlas: the rectangles and durations of the frames on a sheet, for programs that draw sprites.
struct SheetAtlas: Hashable, Sendable {
  struct Sprite: Hashable, Sendable {
    let name: String
    let rect: PixelRect
    /// The time for which the frame is shown, in milliseconds.
    let duration: Int
  }

  /// The name of an input, and the indices of its sprites.
  struct Tag: Hashable, Sendable {
    let name: String
    let sprites: Range<Int>
  }

  /// The name of the sheet's file, without directories.
  let image: String
  let size: PixelSize
  let version: String
  let sprites: [Sprite]
  let tags: [Tag]

  /// Returns the atlas as JSON, including a line break.
  func json(_ shape: AtlasShape) -> [UInt8] {
    var json = JSONWriter()
    json.object { json in
      switch shape {
      case .hash:
        json.object("frames") { json in
          for sprite in sprites { json.object(named: sprite.name) { sprite.write(to: &$0) } }
        }
      case .array:
        json.array("frames") { json in
          for sprite in sprites {
            json.object {
              $0.field("filename", sprite.name)
              sprite.write(to: &$0)
            }
          }
        }
      }
      json.object("meta") { json in
        json.field("app", "zoetrope")
        json.field("version", version)
        json.field("image", image)
        json.field("format", "RGBA8888")
        Self.write(size, as: "size", to: &json)
        json.field("scale", "1")
        json.array("frameTags") { json in
          for tag in tags where !tag.sprites.isEmpty {
            json.object {
              $0.field("name", tag.name)
              $0.field("from", tag.sprites.lowerBound)
              $0.field("to", tag.sprites.upperBound - 1)
              $0.field("direction", "forward")
            }
          }
        }
      }
    }
    return json.bytes + [0x0a]
  }

  fileprivate static func write(
    _ size: PixelSize, as key: StaticString, at place: (x: Int, y: Int)? = nil,
    to json: inout JSONWriter
  ) {
    json.object(key) {
      if let place {
        $0.field("x", place.x)
        $0.field("y", place.y)
      }
      $0.field("w", size.width)
      $0.field("h", size.height)
    }
  }
}

extension SheetAtlas.Sprite {
  fileprivate func write(to json: inout JSONWriter) {
    SheetAtlas.write(rect.size, as: "frame", at: (rect.x, rect.y), to: &json)
    json.field("rotated", false)
    json.field("trimmed", false)
    SheetAtlas.write(rect.size, as: "spriteSourceSize", at: (0, 0), to: &json)
    SheetAtlas.write(rect.size, as: "sourceSize", to: &json)
    json.field("duration", duration)
  }
}
