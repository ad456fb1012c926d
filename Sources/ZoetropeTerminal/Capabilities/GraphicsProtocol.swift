/// A way to show pictures that a terminal may know.
public enum GraphicsProtocol: String, Sendable, Hashable, CaseIterable {
  /// kitty's, with edits of the image that is shown (`a=f`).
  case kittyEdits = "kitty"
  /// kitty's, without edits: two images in turn.
  case kittyImages = "kitty-images"
  /// iTerm2's inline images.
  case iterm2
  /// Sixels.
  case sixel
  /// Characters; every terminal has these.
  case cells
}
