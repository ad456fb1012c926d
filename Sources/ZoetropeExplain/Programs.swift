import ZoetropeFrames

/// What is known about each program. All knowledge of other programs is in this module.
package enum Programs {
  package static let all = [
    chromium, firefox, webkit, imageIO, ffmpeg, pillow, imageMagick, android, gtk,
  ]

  private static let tenth = Duration.milliseconds(100)

  private static func rule(
    _ subject: Rule.Subject, _ text: String, _ evidence: Rule.Evidence, _ source: String
  ) -> Rule {
    Rule(subject: subject, text: text, evidence: evidence, source: source)
  }

  /// Returns the rule that a program plays a file as often as the file specifies.
  private static func playsAsStored(_ evidence: Rule.Evidence, _ source: String) -> PlayRule {
    PlayRule(
      kind: .file,
      rule: rule(
        .plays,
        "GIF: once without a loop block, n + 1 times for n, forever for 0; APNG: n times, forever for 0",
        evidence, source))
  }

  private static func profiles(_ source: String) -> Rule {
    rule(.colour, "colours are converted from the file's profile or gamma", .reported, source)
  }

  // MARK: - Browsers

  static let chromium: Program = {
    let source =
      "https://github.com/chromium/chromium/blob/main/third_party/blink/renderer/platform"
    let measured = Rule.Evidence.measured("156")
    let delays = rule(
      .delays, "10 ms or less is shown as 100 ms", .reported,
      "\(source)/graphics/deferred_image_decoder.cc")
    let steps = [DelayRule.Step(bound: .milliseconds(11), shown: tenth)]
    let plays = playsAsStored(measured, "https://www.w3.org/TR/webcodecs/#imagetrack-interface")
    let frames = rule(
      .frames, "the same frames, as compared over the conformance corpus", measured,
      "\(source)/image-decoders")
    return Program(
      id: "chromium", name: "Chromium",
      gif: Behaviour(
        delays: DelayRule(steps: steps, rule: delays), plays: plays, pictures: .same,
        rules: [frames]),
      apng: Behaviour(
        delays: DelayRule(steps: steps, unit: .milliseconds, rule: delays), plays: plays,
        pictures: .same, profiles: profiles("\(source)/image-decoders/png/png_image_decoder.cc"),
        paletteIndex: rule(
          .colour, "an index past the palette selects its last colour", measured,
          "\(source)/image-decoders/png/png_image_decoder.cc"),
        rules: [
          frames,
          rule(
            .delays, "fractions of a millisecond are dropped", measured,
            "\(source)/image-decoders/png/png_image_decoder.cc"),
        ]))
  }()

  static let firefox: Program = {
    let source = "https://searchfox.org/mozilla-central/source/image"
    let measured = Rule.Evidence.measured("153")
    let delays = rule(
      .delays, "10 ms or less is shown as 100 ms", measured, "\(source)/FrameTimeout.h")
    let steps = [DelayRule.Step(bound: .milliseconds(11), shown: tenth)]
    let plays = playsAsStored(measured, "\(source)/FrameAnimator.cpp")
    return Program(
      id: "firefox", name: "Firefox",
      gif: Behaviour(
        delays: DelayRule(steps: steps, rule: delays), plays: plays,
        interlacedRow: rule(
          .frames, "an interlaced frame of one row is not drawn", measured,
          "\(source)/SurfaceFilters.h")),
      apng: Behaviour(
        delays: DelayRule(steps: steps, unit: .milliseconds, rule: delays), plays: plays,
        profiles: profiles("\(source)/decoders/nsPNGDecoder.cpp")))
  }()

  static let webkit: Program = {
    let source =
      "https://github.com/WebKit/WebKit/blob/main/Source/WebCore/platform/graphics/cg/ImageDecoderCG.cpp"
    let delays = DelayRule(
      steps: [DelayRule.Step(bound: .milliseconds(11), shown: tenth)],
      rule: rule(.delays, "less than 11 ms is shown as 100 ms", .reported, source))
    let plays = playsAsStored(.reported, source)
    return Program(
      id: "webkit", name: "WebKit", gif: Behaviour(delays: delays, plays: plays),
      apng: Behaviour(delays: delays, plays: plays, profiles: profiles(source)))
  }()

  // MARK: - Systems

  static let imageIO: Program = {
    let source = "https://developer.apple.com/documentation/imageio"
    let delays = DelayRule(
      steps: [DelayRule.Step(bound: .milliseconds(11), shown: tenth)],
      rule: rule(
        .delays,
        "DelayTime: less than 11 ms is shown as 100 ms, by third-party tests (the documentation says the "
          + "minimum is 100 ms); UnclampedDelayTime is as stored",
        .reported, "\(source)/kcgimagepropertygifdelaytime"))
    let plays = PlayRule(
      kind: .forever,
      rule: rule(
        .plays, "CGAnimateImage repeats forever unless its LoopCount option is set", .reported,
        "\(source)/cganimateimageaturlwithblock(_:_:_:)"))
    return Program(
      id: "imageio", name: "Image I/O", gif: Behaviour(delays: delays, plays: plays),
      apng: Behaviour(delays: delays, plays: plays, profiles: profiles(source)))
  }()

  static let android: Program = {
    let source =
      "https://android.googlesource.com/platform/frameworks/base/+/refs/heads/main/libs/hwui/hwui/AnimatedImageDrawable.cpp"
    let guide =
      "https://developer.android.com/reference/android/graphics/drawable/AnimatedImageDrawable"
    return Program(
      id: "android", name: "Android AnimatedImageDrawable",
      gif: Behaviour(
        delays: DelayRule(
          steps: [DelayRule.Step(bound: .milliseconds(11), shown: tenth)],
          rule: rule(.delays, "GIF: 10 ms or less is shown as 100 ms", .reported, source)),
        plays: playsAsStored(.reported, guide)),
      apng: Behaviour(
        animates: false,
        rules: [rule(.format, "APNG is shown as a still picture", .reported, guide)]))
  }()

  static let gtk: Program = {
    let source = "https://github.com/GNOME/gdk-pixbuf/blob/master/gdk-pixbuf/io-gif.c"
    return Program(
      id: "gtk", name: "GdkPixbuf",
      gif: Behaviour(
        delays: DelayRule(
          steps: [
            DelayRule.Step(bound: .milliseconds(10), shown: tenth),
            DelayRule.Step(bound: .milliseconds(20), shown: .milliseconds(20)),
          ],
          rule: rule(.delays, "0 is shown as 100 ms, 10 ms as 20 ms", .reported, source)),
        plays: playsAsStored(.reported, source)),
      apng: Behaviour(
        animates: false,
        rules: [
          rule(
            .format, "APNG is shown as a still picture", .reported,
            "https://github.com/GNOME/gdk-pixbuf/blob/master/gdk-pixbuf/io-png.c")
        ]))
  }()
}

// MARK: - Tools

extension Programs {
  static let ffmpeg: Program = {
    let source = "https://github.com/FFmpeg/FFmpeg/blob/n5.1"
    let guide = "https://ffmpeg.org/ffmpeg-formats.html"
    let measured = Rule.Evidence.measured("5.1")
    let plays = PlayRule(
      kind: .once,
      rule: rule(.plays, "the loop count is ignored without -ignore_loop 0", measured, guide))
    let gif = GIFModel(
      uncovered: .background, cleared: .background,
      disposals: [.keep, .keep, .background, .previous, .keep, .keep, .keep, .keep],
      growth: .never, dropsOutside: true, needsPalette: true,
      rules: GIFModel.Rules(
        canvas: rule(
          .canvas,
          "the screen keeps its size; if the first frame has no transparent index, it is initially filled "
            + "with the background colour",
          measured, "\(source)/libavcodec/gifdec.c"),
        dispose: rule(
          .dispose,
          "disposal background fills with the background colour unless the frame has a transparent "
            + "index; method 4 keeps",
          measured, "\(source)/libavcodec/gifdec.c"),
        frames: rule(
          .frames, "frames outside the screen or without a palette are dropped", measured,
          "\(source)/libavcodec/gifdec.c")))
    let apng = APNGModel(
      over: .roundingDown, needsWholeFirstFrame: true, refusesOneBitGrey: true,
      misplacesSmallSamples: true, stopsAtChunkBehindControl: true,
      rules: APNGModel.Rules(
        blend: rule(
          .blend, "blending over rounds the division by alpha down", measured,
          "\(source)/libavcodec/pngdec.c"),
        dispose: rule(
          .dispose, "without alpha, disposal background leaves opaque black", measured,
          "\(source)/libavcodec/pngdec.c"),
        frames: rule(
          .frames,
          "no frames if the first one does not cover the canvas, for 1-bit grey, or after a chunk between a "
            + "frame's control and data; partial frames of 1 to 4 bits are misplaced",
          measured, "\(source)/libavformat/apngdec.c")))
    return Program(
      id: "ffmpeg", name: "FFmpeg",
      gif: Behaviour(
        delays: DelayRule(
          steps: [DelayRule.Step(bound: .milliseconds(20), shown: tenth)],
          rule: rule(
            .delays, "less than 20 ms is shown as 100 ms (-min_delay 2, -default_delay 10)",
            measured,
            "\(guide)#gif-2")),
        plays: plays, pictures: .gif(gif)),
      apng: Behaviour(
        delays: DelayRule(
          steps: [DelayRule.Step(bound: .nanoseconds(1), shown: .nanoseconds(66_666_667))],
          unit: .hundredThousandths,
          rule: rule(
            .delays,
            "0 becomes 1/15 s (-default_fps 15); delays are 32-bit multiples of 1/100000 s: above 21474 s "
              + "they overflow",
            measured, "\(source)/libavformat/apngdec.c")),
        plays: plays, pictures: .apng(apng)))
  }()

  static let pillow: Program = {
    let source = "https://github.com/python-pillow/Pillow/blob/13.0.0/src/PIL"
    let guide = "https://pillow.readthedocs.io/en/stable/handbook/image-file-formats.html"
    let measured = Rule.Evidence.measured("13.0")
    let delays = DelayRule(
      rule: rule(.delays, "info[\"duration\"] is the stored delay", measured, guide))
    let gif = GIFModel(
      uncovered: .firstColor, cleared: .ownBackground,
      disposals: [
        .inherited, .keep, .background, .previous, .previous, .previous, .previous, .previous,
      ],
      growth: .everyFrame, losesAlpha: true, keepsFirst: true, stopsAtEmptyFrame: true,
      misreadsEmptyExtension: true,
      rules: GIFModel.Rules(
        canvas: rule(
          .canvas,
          "if the first frame has no transparent index, the canvas is initially filled with the palette's "
            + "first colour and stays opaque; every frame may enlarge it",
          measured, "\(source)/GifImagePlugin.py"),
        dispose: rule(
          .dispose,
          "method 0 repeats that of the previous frame; background fills with the background colour unless "
            + "the frame has a transparent index; 4 to 7 mean previous",
          measured, "\(source)/GifImagePlugin.py"),
        frames: rule(
          .frames, "a frame without pixels, or an extension without blocks before one, is an error",
          measured, "\(source)/GifImagePlugin.py")))
    let apng = APNGModel(
      over: .interpolating, clearsToFirstColor: true, clearsKeyToBlack: true,
      refusesWrongChecksums: true, countsStaticImage: true,
      failsAtInterlacing: true, forgetsPrevious: true, blendsKeyedGreyAsOpaque: true,
      rules: APNGModel.Rules(
        blend: rule(
          .blend, "blending over treats alpha like a colour channel", measured,
          "\(source)/PngImagePlugin.py"),
        dispose: rule(
          .dispose,
          "without alpha, disposal background leaves black, even if RGB has a transparent colour, and with a "
            + "palette its first colour; previous keeps a frame that was blended over",
          measured, "\(source)/PngImagePlugin.py"),
        frames: rule(
          .frames,
          "a static image that is not a frame is shown as the first frame; later interlaced frames are an "
            + "error, and so is a wrong checksum of any chunk before the pixels",
          measured, "\(source)/PngImagePlugin.py")))
    func plays(_ text: String) -> PlayRule {
      PlayRule(kind: .storedNumber, rule: rule(.plays, text, measured, guide))
    }
    return Program(
      id: "pillow", name: "Pillow",
      gif: Behaviour(
        delays: delays,
        plays: plays("does not play; info[\"loop\"] is the number in a NETSCAPE2.0 block"),
        pictures: .gif(gif)),
      apng: Behaviour(
        delays: delays, plays: plays("does not play; info[\"loop\"] is the stored number"),
        pictures: .apng(apng)))
  }()

  static let imageMagick: Program = {
    let source = "https://github.com/ImageMagick/ImageMagick6/blob/6.9.11-60"
    let measured = Rule.Evidence.measured("6.9")
    let gif = GIFModel(
      uncovered: .nearestBackground, cleared: .transparent,
      disposals: [.keep, .keep, .background, .previous, .keep, .keep, .keep, .keep],
      growth: .emptyScreen, inheritsControl: true, failsAsWhole: true,
      rules: GIFModel.Rules(
        canvas: rule(
          .canvas,
          "-coalesce keeps the screen's size; if the first frame has no transparent index, the screen is "
            + "initially filled with the background colour, or with white if that frame has its own palette",
          measured, "\(source)/magick/layer.c"),
        dispose: rule(
          .dispose,
          "-coalesce treats methods 4 to 7 as keep; a frame without a control extension has the method of "
            + "the previous frame",
          measured, "\(source)/magick/layer.c"),
        frames: rule(
          .frames, "a truncated frame, or one without pixels, makes the file yield no frames",
          measured,
          "\(source)/coders/gif.c")))
    return Program(
      id: "imagemagick", name: "ImageMagick",
      gif: Behaviour(
        delays: DelayRule(
          isInherited: true,
          rule: rule(
            .delays,
            "%T is the stored delay; a frame without a control extension has that of the previous one",
            measured, "\(source)/coders/gif.c")),
        plays: PlayRule(
          kind: .netscape,
          rule: rule(
            .plays,
            "n + 1 times, or forever for 0, if a NETSCAPE2.0 block precedes the first frame; else once",
            measured, "\(source)/coders/gif.c")),
        pictures: .gif(gif),
        rules: [
          rule(.delays, "animate shows 0 as 10 ms", .reported, "\(source)/magick/animate.c")
        ]),
      apng: Behaviour(
        animates: false,
        pictures: .still(
          rule(
            .frames, "a truncated PNG yields no picture", measured, "\(source)/coders/png.c")),
        rules: [
          rule(
            .format, "APNG is read as a still picture, unless apng: delegates to ffmpeg", measured,
            "\(source)/coders/png.c")
        ]))
  }()
}
