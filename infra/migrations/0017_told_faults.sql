-- Workers of the version before went on telling which names there are inside when 0015 was applied already.
UPDATE webhook_delivery SET fault = 'no_public_address' WHERE fault IN ('address_refused', 'name_not_found');
