import Glibc

/// Whether the environment asks for less motion.
enum MotionPreference {
  /// `ZOETROPE_REDUCED_MOTION` or `NO_MOTION` is set to something other than 0.
  static var isReduced: Bool {
    ["ZOETROPE_REDUCED_MOTION", "NO_MOTION"].contains { name in
      // The string belongs to the environment, which nothing here changes; it is copied at once.
      guard let value = unsafe getenv(name) else { return false }
      let text = unsafe String(cString: value)
      return !text.isEmpty && text != "0"
    }
  }
}
