extension ImageHeader {
  /// Whether a colour of types 0 and 2 stands for a transparent pixel.
  var hasTransparentColor: Bool {
    (colorType == 0 && transparency.count == 2) || (colorType == 2 && transparency.count == 6)
  }

  /// Whether no pixel of the file can be anything but opaque.
  var isOpaquePNG: Bool {
    switch colorType {
    case 0, 2: !hasTransparentColor
    case 3: palette.allSatisfy { $0 >> 24 == 255 }
    default: false
    }
  }
}
